import { type Command, CommandError } from "@assay/cli/command";
import { table } from "@assay/cli/style";
import {
  migrateInstallation,
  openInstallation,
  withDatabase,
} from "../../platform/installation/open-installation.ts";
import { listAllOrganizations } from "../../tenants/organizations/organization.store.ts";

export const migrateCommand: Command = {
  name: "migrate",
  about:
    "Apply missing database migrations and exit. Contracting migrations wait while a process that needs the old schema runs.",
  options: {
    "expand-only": { type: "boolean", about: "Apply only migrations that add to the schema." },
    "contract-now": {
      type: "boolean",
      about: "Also apply contracting migrations, even if running processes need the old schema.",
    },
  },
  examples: ["migrate", "migrate --expand-only"],
  run: async ({ options }, print, style) => {
    if (options["expand-only"] === true && options["contract-now"] === true)
      throw new CommandError("Use either --expand-only or --contract-now, not both.");
    const installation = await openInstallation(process.env);
    const putOff: string[] = [];
    const contract =
      options["contract-now"] === true ? "now" : options["expand-only"] === true ? "never" : "when_free";
    try {
      const applied = await style.progress("Migrating…", () =>
        migrateInstallation(installation, {
          contract,
          onPostponed: (migration, processes) =>
            putOff.push(
              processes.length === 0
                ? `Skipped: ${migration}, which removes something from the schema.`
                : `Waiting: ${migration} removes something that these processes need: ${processes.join(", ")}. Run this command again when they have ended.`,
            ),
        }),
      );
      const done = applied.length > 0 ? `Applied: ${applied.join(", ")}` : null;
      const nothing = putOff.length === 0 ? "The database is up to date." : "Nothing was applied.";
      print(`${style.width === null ? "" : `${style.mark("ok")} `}${done ?? nothing}`);
      for (const line of putOff) print(line);
      return 0;
    } finally {
      await installation.close();
    }
  },
};

export const orgList: Command = {
  name: "org list",
  about: "List the organizations with their environment and number of members.",
  options: { json: { type: "boolean", about: "Print one JSON object per line." } },
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
