import type { Command } from "@assay/cli/command";
import { migrateInstallation, openInstallation, withDatabase } from "../installation/open-installation.ts";
import { listAllOrganizations } from "../organizations/organization.store.ts";

export const migrateCommand: Command = {
  name: "migrate",
  about: "Apply missing database migrations and end.",
  run: async (_args, print) => {
    const installation = await openInstallation(process.env);
    try {
      const applied = await migrateInstallation(installation);
      print(applied.length === 0 ? "The database is up to date." : `Applied: ${applied.join(", ")}`);
      return 0;
    } finally {
      await installation.close();
    }
  },
};

export const orgList: Command = {
  name: "org list",
  about: "List the organizations with their environment and number of members.",
  run: (_args, print) =>
    withDatabase(process.env, async (db) => {
      const rows = await listAllOrganizations(db);
      if (rows.length === 0) print("There is no organization yet.");
      for (const row of rows) {
        print(
          `${row.id}  ${row.slug.padEnd(24)}  ${row.environment.padEnd(8)} ${String(row.members).padStart(3)} members  ${row.name}${row.frozen ? "  (to be deleted)" : ""}`,
        );
      }
      return 0;
    }),
};
