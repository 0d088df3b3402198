import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { listMigrations, type Migration, migrate } from "../../apps/server/src/platform/db/migrate.ts";
import { readHeader } from "../../apps/server/src/platform/db/schema-version.ts";
import { tally } from "../../apps/server/test/support/tally.ts";
import { askDatabase } from "../ask-database.ts";
import { dumpSchema } from "../dump-schema.ts";
import { extract, git, releaseBefore, unpack } from "../release-before.ts";
import { startScratchPostgres } from "../scratch-postgres.ts";

export const about =
  "the release before works on the schema of this one, and this one on a database that is half migrated";

const root = path.resolve(import.meta.dirname, "../..");
const usage = `npm run prove -- upgrade [--from COMMIT] [--parts PART,PART] [--only old|new] [--keep]

  --from    the previous release. Default: the last tag or, without one, the commit before the last new migration
  --parts   only files of the API suite whose path contains one of these
  --only    only the suite of the previous release, or of this one
  --keep    keeps the folder with the previous release`;

/**
 * Tests make their databases from a template named after the migrations of their release. Here the template
 * of each suite is made beforehand with another schema. The previous release gets its schema plus all
 * additions of this one; this release gets the same without its removals. The tests do not notice.
 */
export async function prove(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: "string" },
      parts: { type: "string", default: "" },
      only: { type: "string" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const from = values.from ?? releaseBefore();
  if (values.help || from === "") {
    console.log(values.help ? usage : `The history has no release to begin from. Name a commit.\n\n${usage}`);
    return values.help;
  }
  const parts = values.parts.split(",").filter((part) => part !== "");
  const folder = mkdtempSync(path.join(tmpdir(), "assay-upgrade-"));
  const postgres = await startScratchPostgres();
  try {
    const before = values.only === "new" ? extract(from, folder) : unpack(from, folder);
    const old = readMigrations(path.join(before, "apps/server/migrations"));
    const added = listMigrations().filter(({ name }) => !old.some((known) => known.name === name));
    tellPlan(from, added);
    const templates = new Set<string>();
    let holds = await endsTheSame(postgres.url, old);
    if (values.only !== "new") {
      templates.add(await makeTemplate(postgres.url, old, old));
      const failed = await runSuite(before, postgres.url, templates, parts, {});
      holds = (await failAnyway(before, failed)) && holds;
    }
    if (values.only !== "old") {
      templates.add(await makeTemplate(postgres.url, listMigrations(), old));
      const skipping = { ASSAY_TEST_SKIP_MIGRATIONS: "true" };
      holds = (await runSuite(root, postgres.url, templates, parts, skipping)).length === 0 && holds;
    }
    return holds;
  } finally {
    await postgres.close();
    if (values.keep) console.log(`The release before is in ${folder}`);
    else rmSync(folder, { recursive: true, force: true });
  }
}

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      return { name, text, checksum: createHash("sha256").update(text).digest("hex") };
    });
}

function tellPlan(from: string, added: readonly Migration[]): void {
  const inPhase = (wanted: "expand" | "contract") =>
    added
      .filter(({ text }) => (readHeader(text).phase === "contract") === (wanted === "contract"))
      .map(({ name }) => name)
      .join(", ") || "nothing";
  console.log(`Since ${from} (${git("log", "-1", "--format=%h %s", from)}):`);
  console.log(`  expands by   ${inPhase("expand")}`);
  console.log(`  contracts by ${inPhase("contract")}\n`);
}

/** The name that `test/support/database.ts` of a release with these migrations gives to its template. */
function templateOf(migrations: readonly Migration[]): string {
  const hash = createHash("sha256");
  for (const { name, checksum } of migrations) hash.update(`${name}\0${checksum}\0`);
  return `assay_template_${hash.digest("hex").slice(0, 24)}`;
}

/** The schema of the previous release plus the additions of this one. */
async function makeTemplate(
  server: string,
  named: readonly Migration[],
  old: readonly Migration[],
): Promise<string> {
  const name = templateOf(named);
  const url = await createDatabase(server, name);
  await migrate(url, { migrations: old, contract: "now" });
  await migrate(url, { contract: "never" });
  return name;
}

async function createDatabase(server: string, name: string): Promise<string> {
  await askDatabase(server, (client) => client.query(`drop database if exists ${name} with (force)`));
  await askDatabase(server, (client) =>
    client.query(`create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`),
  );
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** An installation that skipped releases contracts after it has expanded; a new one applies all in order. */
async function endsTheSame(server: string, old: readonly Migration[]): Promise<boolean> {
  const inOrder = await createDatabase(server, "in_order");
  await migrate(inOrder);
  const later = await createDatabase(server, "later");
  await migrate(later, { migrations: old, contract: "now" });
  await migrate(later, { contract: "never" });
  await migrate(later);
  const [one, other] = [await askDatabase(inOrder, dumpSchema), await askDatabase(later, dumpSchema)];
  console.log(`${one === other ? "ok  " : "FAIL"}  both orders of migrations end with the same schema\n`);
  return one === other;
}

/**
 * The previous release cannot know what this one adds, and its doctor reports the newer schema. So its tests
 * that list tables or columns, or state the version of the schema, prove nothing here.
 */
const statesSchema = (name: string) =>
  / > (every (table|column) |the schema of the database |a (healthy|broken) installation )/.test(name);

/** Whether tests of the release before fail on its own schema, too. Then this release has not broken them. */
async function failAnyway(before: string, failed: readonly string[]): Promise<boolean> {
  if (failed.length === 0) return true;
  const files = [...new Set(failed.map((name) => name.split(" > ")[0] ?? ""))];
  console.log("The same files on its own schema:");
  const own = await startScratchPostgres();
  try {
    const anyway = await runSuite(before, own.url, null, files, {});
    const broken = failed.filter((name) => !anyway.includes(name) && !statesSchema(name));
    for (const name of broken) console.log(`FAIL  passes on its own schema only: ${name}`);
    console.log(
      `${failed.length - broken.length} tests fail on the release's own schema as well, or state its schema\n`,
    );
    return broken.length === 0;
  } finally {
    await own.close();
  }
}

/** Gives the tests that failed. `templates`: those that the suite has to use; null when it makes its own. */
async function runSuite(
  folder: string,
  server: string,
  templates: ReadonlySet<string> | null,
  parts: readonly string[],
  environment: Record<string, string>,
): Promise<string[]> {
  // The release before has its tests of the API in one folder.
  const files = globSync(
    "apps/server/test/{api,platform,tenants,delivery,verification,operations}/**/*.test.ts",
    {
      cwd: folder,
    },
  )
    .filter((file) => !file.endsWith(".browser.test.ts"))
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .sort();
  console.log(folder === root ? "This release, on a database that is half migrated:" : "The release before:");
  const child = spawn(
    process.execPath,
    ["scripts/test.ts", ...(parts.length === 0 ? [] : ["--lanes=2"]), ...files],
    {
      cwd: folder,
      stdio: ["inherit", "pipe", "inherit"],
      env: { ...process.env, TEST_DATABASE_URL: server, ...environment },
    },
  );
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => {
    process.stdout.write(chunk);
    told += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  console.log("");
  const passed = Number(/^(\d+) passed/m.exec(told)?.[1] ?? 0);
  if (templates !== null)
    tally(folder === root ? "tests of this release on its schema" : "tests of the release before", passed);
  const listed = told.split("\nFailed:\n")[1]?.split("\n\n")[0]?.split("\n") ?? [];
  const failed = listed.map((line) => line.trim());
  if (code !== 0 && failed.length === 0) failed.push("the run itself");
  if (templates === null) return failed;
  // Otherwise the suite has not used the one that was made for it.
  const { rowCount } = await askDatabase(server, (client) =>
    client.query("select from pg_database where datname like 'assay_template_%' and datname <> all ($1)", [
      [...templates],
    ]),
  );
  if (rowCount !== 0) {
    console.log("FAIL  the suite did not use the prepared template");
    failed.push("the template");
  }
  return failed;
}
