// The test suite behind `npm test`: checks of the source, then every test file against one PostgreSQL. With
// `--system`, behind `npm run test:system`, the files that need more than Node and npm. Arguments select
// files by parts of their path; the path of a fixture runs that fixture.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { EventData } from "node:test";
import { run } from "node:test";
import { inspect } from "node:util";
import { type FoundBrowser, findBrowser, thisMachine } from "./find-browser.ts";
import { openScratchFolder } from "./scratch-folder.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

const root = path.resolve(import.meta.dirname, "..");
/** More than the cores of a small machine: some always wait for a browser, a lease or a process. */
const lanes = option("lanes", 6);
const isSystemRun = process.argv.includes("--system");
/** A walk over every screen, or one that takes a picture of each, takes minutes on a busy machine. */
const isLongWalk =
  isSystemRun || process.env.ASSAY_EVERY_PAGE !== undefined || process.env.ASSAY_SCREENSHOTS !== undefined;
const fileTimeoutSeconds = option("file-seconds", isLongWalk ? 1200 : 300);
const quietSeconds = option("quiet-seconds", 15);

type Outcome = {
  passed: number;
  failures: { name: string; text: string }[];
  /** `count` where one line stands for several. */
  skips: { name: string; reason: string; count?: number }[];
};
type Gate = { name: string; run(): Promise<{ ok: boolean; output: string }> };
type Prepared = { environment: Record<string, string>; close(): Promise<void> };
/**
 * Checks of the source that count as one test each.
 * They run while PostgreSQL starts and during the first files.
 */
const gates: Gate[] = [
  { name: "types (tsc)", run: () => checkTypes("tsconfig.json") },
  { name: "types of the web apps", run: () => checkTypes("apps/web-apps.tsconfig.json") },
  { name: "format and lint (biome)", run: () => runTool("biome", ["check", "--colors=off"]) },
];

async function main(scratch: string): Promise<number> {
  const startedAt = Date.now();
  const filters = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
  const files = findTestFiles(filters);
  const total = newOutcome();
  const add = (outcome: Outcome) => {
    total.passed += outcome.passed;
    total.failures.push(...outcome.failures);
    total.skips.push(...outcome.skips);
  };

  // A run of selected files skips them; a whole run checks everything.
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
    // The processes of the tests inherit it.
    Object.assign(process.env, {
      NODE_ENV: "test",
      ...prepared.environment,
      ASSAY_TEST_SEEN_CODES: seenCodes,
      ...(browser.path === null ? {} : { CHROMIUM_PATH: browser.path }),
      ...(browser.isPinned ? { ASSAY_TEST_PINNED_BROWSER: "1" } : {}),
      ...(browser.whole === null ? {} : { CHROMIUM_WHOLE_PATH: browser.whole }),
    });
    // Most of the slowest ones come last by name.
    // They start first, so that nothing waits for them at the end.
    const patient = waiting.filter(mostlyWaits).reverse();
    const busy = waiting.filter((file) => !mostlyWaits(file));
    const worker = async (...queues: string[][]): Promise<void> => {
      for (;;) {
        const queue = queues.find(({ length }) => length > 0);
        if (queue === undefined || interrupted.signal.aborted) return;
        const group = queue === patient ? queue.splice(0, patientFilesInOneProcess) : nextGroup(queue);
        const { notRun, ...outcome } = await runGroup(scratch, group);
        queue.unshift(...notRun);
        add(outcome);
      }
    };
    await Promise.all([
      // Files that wait most of the time, one or two at once, beside files that compute.
      ...Array.from({ length: lanes }, (_, lane) =>
        lane % 2 === 1 ? worker(patient, busy) : worker(busy, patient),
      ),
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

/** Tests record the error codes of their answers; a code that none of them got is unproven. */
async function checkErrorCodes(seenFile: string): Promise<Outcome> {
  const { errorCodes } = await import("@assay/contract/errors");
  const seen = new Set(existsSync(seenFile) ? (await readFile(seenFile, "utf8")).split("\n") : []);
  const name = "every error code is raised in a test";
  const missing = errorCodes.filter((code) => !seen.has(code));
  if (missing.length === 0) return { passed: 1, failures: [], skips: [] };
  print(`FAIL  ${name}\n      never raised: ${missing.join(", ")}`);
  return { passed: 0, failures: [{ name, text: missing.join(", ") }], skips: [] };
}

// --- what runs ---------------------------------------------------------------------------------------------

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

/** Files that kill and restart processes, films of faces, and tests of scripts, which start processes. */
function mostlyWaits(file: string): boolean {
  return /^scripts\/[^/]+\.test\.ts$|\/test\/(?:faults|verification\/face)\//.test(file);
}

/** Needs more than Node and npm: system packages, other languages, or files outside of the repository. */
function isSystemTest(file: string): boolean {
  return file.endsWith(".system.test.ts") || needsWholeBrowser(file);
}

function isBrowserTest(file: string): boolean {
  return file.endsWith(".browser.test.ts") || isSystemTest(file);
}

function needsWholeBrowser(file: string): boolean {
  return file.endsWith(".whole-browser.test.ts");
}

// --- files -------------------------------------------------------------------------------------------------

/** Memory that a process accumulates is freed after this many files. */
const filesInOneProcess = 50;
/**
 * A process loads the service first, which takes longer than a small file. With more files, lanes wait for the
 * last process.
 */
const minFiles = 20;
/** These files take long: with more of them in one process, the other lanes would run out of files. */
const patientFilesInOneProcess = 6;

/**
 * Takes files for one process: many at first, few at the end, so that no lane waits long for the last one. A
 * browser test counts as five other files.
 */
function nextGroup(queue: string[]): string[] {
  const weightOf = (file: string) => (isBrowserTest(file) ? 5 : 1);
  const whole = queue.reduce((sum, file) => sum + weightOf(file), 0);
  let room = Math.min(filesInOneProcess, Math.max(minFiles, Math.ceil(whole / (2 * lanes))));
  const end = queue.findIndex((file) => {
    room -= weightOf(file);
    return room < 0;
  });
  return queue.splice(0, end === -1 ? queue.length : Math.max(end, 1));
}

let groups = 0;

/** Runs files in one process. `notRun`: those after the one with which it died. */
async function runGroup(folder: string, files: string[]): Promise<Outcome & { notRun: string[] }> {
  const entry = path.join(folder, `group-${groups++}.mjs`);
  const limitMs = fileTimeoutSeconds * 1000;
  await writeFile(
    entry,
    `import { runFiles } from ${JSON.stringify(path.join(root, "scripts/test-group.ts"))};
     await runFiles(${JSON.stringify(files)}, ${limitMs}, ${quietSeconds * 1000});`,
  );
  const events = run({
    files: [entry],
    cwd: root,
    // Throughput counts here, not pauses by garbage collection. `bin/assay` explains the second flag.
    execArgv: ["--max-semi-space-size=32", "--no-concurrent-sparkplug"],
    // For a file that does not even notice its own limit.
    timeout: limitMs * files.length + 60_000,
    signal: interrupted.signal,
  });
  const total = newOutcome();
  const left = [...files];
  let ofFile = newOutcome();
  let output = "";
  const close = (file: string, ms: number) => {
    if (ofFile.passed + ofFile.skips.length + ofFile.failures.length === 0)
      ofFile.failures.push({ name: file, text: "holds no test" });
    printFile(file, ofFile, ms, output);
    total.passed += ofFile.passed;
    total.failures.push(...ofFile.failures);
    total.skips.push(...ofFile.skips);
    ofFile = newOutcome();
    output = "";
  };
  const names: string[] = [];
  for await (const { type, data } of events) {
    if (type === "test:stdout" || type === "test:stderr") output = (output + data.message).slice(-100_000);
    else if (type === "test:diagnostic" && data.level !== "info") output += `${data.message}\n`;
    else if (type === "test:start") {
      names.length = data.nesting;
      names.push(data.name);
    } else if (type === "test:pass" || type === "test:fail") {
      if (data.nesting === 0 && data.name === entry) {
        const reason = endOf(data as EventData.TestFail);
        const [file] = left;
        if (file !== undefined) {
          ofFile.failures.push({ name: file, text: reason });
          close(left.shift() ?? "", 0);
        } else if (total.failures.length === 0) {
          const who = files.length === 1 ? `${files[0]}` : `the process of ${files[0]} to ${files.at(-1)}`;
          // The list at the end names the reason too: nothing else tells it from a test that failed.
          const name = `${who}, after all its tests: ${reason}`;
          ofFile.failures.push({ name, text: output.trim() === "" ? reason : output.trim().slice(-2000) });
          close(who, 0);
        }
        continue;
      }
      names.length = data.nesting;
      count(ofFile, [...names, data.name].join(" > "), type, data);
      if (data.nesting === 0) {
        left.shift();
        close(data.name, data.details.duration_ms);
      }
    }
  }
  const hasEndedEarly = left.length === files.length && !interrupted.signal.aborted;
  if (hasEndedEarly) {
    ofFile.failures.push({ name: `${left[0]}`, text: "did not run" });
    close(left.shift() ?? "", 0);
  }
  return { ...total, notRun: left };
}

const newOutcome = (): Outcome => ({ passed: 0, failures: [], skips: [] });

function count(
  outcome: Outcome,
  name: string,
  type: string,
  data: EventData.TestPass | EventData.TestFail,
): void {
  const told = (value: unknown) => value !== undefined && value !== false;
  if (told(data.skip)) outcome.skips.push({ name, reason: typeof data.skip === "string" ? data.skip : "" });
  else if (told(data.todo)) outcome.skips.push({ name, reason: `to do: ${data.todo}` });
  else if (type === "test:fail") {
    const { error } = (data as EventData.TestFail).details;
    const { cause = error, failureType } = error as Error & { failureType?: string };
    // A suite whose tests have failed has nothing to add.
    if (failureType === "subtestsFailed") return;
    outcome.failures.push({ name, text: typeof cause === "string" ? cause : inspect(cause, { depth: 6 }) });
  } else if (data.details.type !== "suite") outcome.passed++;
}

/** How a process has ended that should not have. */
function endOf({ details }: EventData.TestFail): string {
  const { signal, exitCode } = details.error as Error & { signal?: string; exitCode?: number };
  if (typeof signal === "string") return `was ended by ${signal}`;
  return `its process ended with exit code ${exitCode}`;
}

function printFile(file: string, { passed, failures, skips }: Outcome, ms: number, output: string): void {
  const counts = [
    `${passed} passed`,
    ...(failures.length > 0 ? [`${failures.length} failed`] : []),
    ...(skips.length > 0 ? [`${skips.length} skipped`] : []),
  ];
  print(
    `${failures.length === 0 ? "ok  " : "FAIL"}  ${file}  ${counts.join(", ")}  ${(ms / 1000).toFixed(1)} s`,
  );
  for (const failure of failures) print(indent(`${failure.name}\n${indent(failure.text)}`));
  if (failures.length > 0 && output.trim() !== "") print(indent(`output:\n${indent(output.trim())}`));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "      ");
}

// --- checks of the source ----------------------------------------------------------------------------------

async function runGate(gate: Gate): Promise<Outcome> {
  const startedAt = Date.now();
  const { ok, output } = await gate.run().catch((error: Error) => ({ ok: false, output: String(error) }));
  print(`${ok ? "ok  " : "FAIL"}  ${gate.name}  ${seconds(startedAt)}`);
  if (ok) return { passed: 1, failures: [], skips: [] };
  print(indent(output));
  return { passed: 0, failures: [{ name: gate.name, text: output }], skips: [] };
}

/**
 * With the default of four checkers, each of which computes shared types,
 * both take twice as much of processor.
 */
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

// --- what the tests need -----------------------------------------------------------------------------------

const nothingPrepared: Prepared = { environment: {}, close: async () => {} };

/** The address of a PostgreSQL where the tests may make databases: the given one, or one for this run. */
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

/** `npm test` has built them already; a direct run of this file after an edit must not test an old build. */
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

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
// The runner's own tests run it within itself, which `run` takes for a mistake.
delete process.env.NODE_TEST_CONTEXT;
const scratch = openScratchFolder();
// For everything that is started from here.
process.env.TMPDIR = scratch.folder;
const exitCode = await main(scratch.folder).finally(scratch.close);
process.exitCode = interrupted.signal.aborted ? 130 : exitCode;
