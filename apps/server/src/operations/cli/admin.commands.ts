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
    "Apply missing database migrations and end. Those that take something away wait while a process of a release runs that needs it.",
  options: {
    "expand-only": { type: "boolean", about: "Only those that add something." },
    "contract-now": {
      type: "boolean",
      about: "Also those that take something away from processes that still report themselves.",
    },
  },
  examples: ["migrate", "migrate --expand-only"],
  run: async ({ options }, print, style) => {
    if (options["expand-only"] === true && options["contract-now"] === true)
      throw new CommandError("--expand-only and --contract-now exclude each other.");
    const installation = await openInstallation(process.env);
    const putOff: string[] = [];
    const contract =
      options["contract-now"] === true ? "now" : options["expand-only"] === true ? "never" : "when_free";
    try {
      const applied = await style.progress("Migrating…", () =>
        migrateInstallation(installation, {
          contract,
          onPutOff: (migration, processes) =>
            putOff.push(
              processes.length === 0
                ? `Left: ${migration}, which takes something away.`
                : `Waits: ${migration} takes something away that these need: ${processes.join(", ")}. Run this again when they have ended.`,
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
