// The test suite behind `npm test`: checks of the source, then every test file against one PostgreSQL. With `--system`, behind
// `npm run test:system`, the files that need more than Node and npm. Arguments pick the files whose path contains one of
// them; the path of a fixture runs that fixture.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { type FoundBrowser, findBrowser, thisMachine } from "./find-browser.ts";
import { endAllLanes, indent, Lane, type Outcome, print, seconds } from "./lanes.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";
import { printSystemNeeds } from "./system-needs.ts";

const root = path.resolve(import.meta.dirname, "..");
/** One more than the cores of a small machine: there is always one that waits for a browser, a lease or a process. */
const filesAtOnce = option("lanes", 3);
const isSystemRun = process.argv.includes("--system");
/** A walk over every screen, or one that takes a picture of each, takes minutes on a busy machine. */
const isLongWalk =
  isSystemRun || process.env.ASSAY_EVERY_PAGE !== undefined || process.env.ASSAY_SCREENSHOTS !== undefined;
const fileTimeoutSeconds = isLongWalk ? 1200 : 300;
const quietSeconds = option("quiet-seconds", 15);

type Gate = { name: string; run(): Promise<{ ok: boolean; output: string }> };
type Prepared = { environment: Record<string, string>; close(): Promise<void> };
/** Checks of the source that count as one test each. They run while PostgreSQL starts and the first files run. */
const gates: Gate[] = [
  { name: "types (tsc)", run: () => checkTypes("tsconfig.json") },
  { name: "types of the verify app", run: () => checkTypes("apps/verify/tsconfig.json") },
  { name: "types of the dashboard", run: () => checkTypes("apps/dashboard/tsconfig.json") },
  { name: "format and lint (biome)", run: () => runTool("biome", ["check", "--colors=off"]) },
];

async function main(scratch: string): Promise<number> {
  const startedAt = Date.now();
  const filters = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
  const files = findTestFiles(filters);
  if (isSystemRun && filters.length === 0) printSystemNeeds(print);
  const total: Outcome = { passed: 0, failures: [], skips: [] };
  const add = (outcome: Outcome) => {
    total.passed += outcome.passed;
    total.failures.push(...outcome.failures);
    total.skips.push(...outcome.skips);
  };

  // Somebody who works on one file wants that file's answer; the whole run checks everything.
  const isWholeRun = filters.length === 0 && !isSystemRun;
  const gatesToRun = isWholeRun ? gates : [];
  const preparing = files.length === 0 ? Promise.resolve(nothingPrepared) : preparePostgres();
  // Awaited below; until then a failure must not count as unhandled.
  preparing.catch(() => {});
  // Beside the first files: one core would wait for the slowest of them.
  const checking = Promise.all(gatesToRun.map(async (gate) => add(await runGate(gate))));

  let prepared: Prepared;
  try {
    prepared = await preparing;
  } catch (error) {
    add({
      passed: 0,
      failures: [{ name: "PostgreSQL for the tests", text: (error as Error).message }],
      skips: [],
    });
    await checking;
    return finish(total, startedAt);
  }
  try {
    const { waiting, skips, failures, browser } = prepareBrowserTests(files);
    add({ passed: 0, failures, skips });
    const seenCodes = path.join(scratch, "seen-codes");
    const environment = {
      ...prepared.environment,
      ASSAY_TEST_SEEN_CODES: seenCodes,
      ...(browser.path === null ? {} : { CHROMIUM_PATH: browser.path }),
      ...(browser.isPinned ? { ASSAY_TEST_PINNED_BROWSER: "1" } : {}),
      ...(browser.whole === null ? {} : { CHROMIUM_WHOLE_PATH: browser.whole }),
    };
    const patient = waiting.filter(isPatient);
    const busy = waiting.filter((file) => !isPatient(file));
    const worker = async (...queues: string[][]): Promise<void> => {
      const lane = new Lane({ root, environment, fileTimeoutSeconds, quietSeconds });
      const next = () => queues.find((queue) => queue.length > 0)?.shift();
      for (let file = next(); file !== undefined && !interrupted; file = next())
        add(await lane.run(file, needsOwnProcess(file)));
      add(await lane.close());
    };
    await Promise.all([
      ...Array.from({ length: filesAtOnce }, () => worker(busy, patient)),
      // A lane of their own: one that waits for a lease to run out must not keep a core from the others.
      worker(patient),
      checking,
    ]);
    if (isWholeRun) add(await checkErrorCodes(seenCodes));
  } finally {
    await prepared.close();
  }
  return finish(total, startedAt);
}

function finish(total: Outcome, startedAt: number): number {
  if (total.skips.length > 0) {
    print("\nSkipped:");
    for (const { name, reason } of total.skips) print(`  ${name}${reason === "" ? "" : `: ${reason}`}`);
  }
  // What a machine lacks is no fault of the system suite.
  const mayOnlySkip = isSystemRun && total.skips.length > 0;
  const ranNothing = !mayOnlySkip && total.passed + total.failures.length === 0;
  if (ranNothing) print("\nNo test ran.");
  if (total.failures.length > 0) {
    print("\nFailed:");
    for (const { name } of total.failures) print(`  ${name}`);
  }
  print(`\n${seconds(startedAt)} in all`);
  const skips = total.skips.reduce((sum, { count = 1 }) => sum + count, 0);
  const skipped = skips > 0 ? `, ${skips} skipped` : "";
  print(`${total.passed} passed, ${total.failures.length} failed${skipped}`);
  return ranNothing || total.failures.length > 0 ? 1 : 0;
}

/** Tests note the error codes they were answered with; a code that none of them met is not proven to exist. */
async function checkErrorCodes(seenFile: string): Promise<Outcome> {
  const { errorCodes } = await import("@assay/contract/errors");
  const seen = new Set(existsSync(seenFile) ? (await readFile(seenFile, "utf8")).split("\n") : []);
  const name = "every error code is raised in a test";
  const missing = errorCodes.filter((code) => !seen.has(code));
  if (missing.length === 0) return { passed: 1, failures: [], skips: [] };
  print(`FAIL  ${name}\n      never raised: ${missing.join(", ")}`);
  return { passed: 0, failures: [{ name, text: missing.join(", ") }], skips: [] };
}

// --- what runs --------------------------------------------------------------------------------------------------------

/** `--name=7` among the arguments. */
function option(name: string, usual: number): number {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given === undefined ? usual : Number(given.split("=")[1]);
}

function findTestFiles(filters: readonly string[]): string[] {
  return globSync("{apps/*,packages/*,scripts,bench}/**/*.test.ts", {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist)(\/|$)/.test(name),
  })
    .filter((file) => isSystemTest(file) === isSystemRun)
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .concat(filters.filter((filter) => filter.endsWith(".fixture.ts") && existsSync(path.join(root, filter))))
    .sort();
}

/** Files that spend most of their time waiting for servers to die, wake up and give up. */
function isPatient(file: string): boolean {
  return file.includes("/test/faults/");
}

/** Files that kill and restart processes, and those that look at the process they run in. */
function needsOwnProcess(file: string): boolean {
  return isPatient(file);
}

/** Needs more than Node and npm: packages of the system, other languages, material that is not in the repository. */
function isSystemTest(file: string): boolean {
  return file.endsWith(".system.test.ts") || needsWholeBrowser(file);
}

function isBrowserTest(file: string): boolean {
  return file.endsWith(".browser.test.ts") || isSystemTest(file);
}

function needsWholeBrowser(file: string): boolean {
  return file.endsWith(".whole-browser.test.ts");
}

async function runGate(gate: Gate): Promise<Outcome> {
  const startedAt = Date.now();
  const { ok, output } = await gate.run().catch((error: Error) => ({ ok: false, output: String(error) }));
  print(`${ok ? "ok  " : "FAIL"}  ${gate.name}  ${seconds(startedAt)}`);
  if (ok) return { passed: 1, failures: [], skips: [] };
  print(indent(output));
  return { passed: 0, failures: [{ name: gate.name, text: output }], skips: [] };
}

/** With the usual four checkers, each of which works out the types that they share, the three take 36 s of a processor instead of 15. */
function checkTypes(project: string) {
  return runTool("tsc", ["-p", project, "--checkers", "1"]);
}

function runTool(tool: string, args: string[]): Promise<{ ok: boolean; output: string }> {
  const child = spawn(path.join(root, "node_modules", ".bin", tool), args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const collect = (chunk: Buffer) => {
    output += chunk.toString("utf8");
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ ok: code === 0, output }));
  });
}

// --- what the tests need ----------------------------------------------------------------------------------------------

const nothingPrepared: Prepared = { environment: {}, close: async () => {} };

/** The address of a PostgreSQL where the tests may make databases: the one that was given, or our own for this run. */
async function preparePostgres(): Promise<Prepared> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== "") {
    return { environment: { ASSAY_TEST_POSTGRES: given }, close: async () => {} };
  }
  const server = await startScratchPostgres();
  return { environment: { ASSAY_TEST_POSTGRES: server.url }, close: server.close };
}

type BrowserTests = {
  /** The files that can run. */
  waiting: string[];
  browser: Omit<FoundBrowser, "reason">;
  skips: Outcome["skips"];
  failures: Outcome["failures"];
};

/** A browser and fresh web apps are wanted only when a browser test was picked. */
function prepareBrowserTests(files: readonly string[]): BrowserTests {
  if (!files.some(isBrowserTest))
    return {
      waiting: [...files],
      browser: { path: null, whole: null, isPinned: false },
      skips: [],
      failures: [],
    };
  const { reason, ...browser } = findBrowser(thisMachine);
  const canRun = (file: string) => {
    if (needsWholeBrowser(file)) return browser.whole !== null;
    return !file.endsWith(".browser.test.ts") || browser.path !== null;
  };
  const waiting = files.filter(canRun);
  const count = files.length - waiting.length;
  const skips = count === 0 ? [] : [{ name: `${count} files of browser tests`, reason, count }];
  const built = waiting.some(isBrowserTest) ? buildWebApps() : { ok: true, output: "" };
  if (built.ok) return { waiting, browser, skips, failures: [] };
  print(`FAIL  the web apps for the browser tests\n${indent(built.output)}`);
  const failures = [{ name: "the web apps for the browser tests", text: built.output }];
  return { waiting: waiting.filter((file) => !isBrowserTest(file)), browser, skips, failures };
}

/** `npm test` has built them already; whoever runs this file directly after an edit must not test the build before it. */
function buildWebApps(): { ok: boolean; output: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(root, "scripts/run.mjs"), "build"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  return { ok: status === 0, output: `${stdout}${stderr}` };
}

let interrupted = false;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted = true;
    endAllLanes();
  });
}
const scratch = openScratchFolder();
// For everything that is started from here.
process.env.TMPDIR = scratch.folder;
const exitCode = await main(scratch.folder).finally(scratch.close);
process.exitCode = interrupted ? 130 : exitCode;
