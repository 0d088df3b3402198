import type { Command } from "@assay/cli/command";
import { table } from "@assay/cli/style";
import { migrateInstallation, openInstallation, withDatabase } from "../installation/open-installation.ts";
import { listAllOrganizations } from "../organizations/organization.store.ts";

export const migrateCommand: Command = {
  name: "migrate",
  about: "Apply missing database migrations and end.",
  run: async (_args, print, style) => {
    const installation = await openInstallation(process.env);
    try {
      const applied = await style.progress("Migrating…", () => migrateInstallation(installation));
      const done = applied.length === 0 ? "The database is up to date." : `Applied: ${applied.join(", ")}`;
      print(style.width === null ? done : `${style.mark("ok")} ${done}`);
      return 0;
    } finally {
      await installation.close();
    }
  },
};

export const orgList: Command = {
  name: "org list",
  about: "List the organizations with their environment and number of members.",
  options: { json: { type: "boolean", about: "One JSON text a line, for programs." } },
  run: ({ options }, print, style) =>
    withDatabase(process.env, async (db) => {
      const rows = await listAllOrganizations(db);
      if (options.json === true) {
        for (const row of rows) print(JSON.stringify(row));
        return 0;
      }
      if (rows.length === 0) print("There is no organization yet.");
      const cells = rows.map(({ id, slug, environment, members, name, frozen }) => [
        id,
        slug,
        environment,
        `${members} ${members === 1 ? "member" : "members"}`,
        `${name}${frozen ? " (to be deleted)" : ""}`,
      ]);
      if (rows.length > 0)
        for (const line of table(["id", "slug", "environment", "members", "name"], cells, style)) print(line);
      return 0;
    }),
};
