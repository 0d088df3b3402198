// The whole test suite behind `npm test`: checks of the source, then every test file in a process of its own against one
// PostgreSQL. Arguments pick the files whose path contains one of them; the path of a fixture runs that fixture.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { findBrowser, thisMachine } from "./find-browser.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";
import type { TestReport } from "./test-reporter.ts";

const root = path.resolve(import.meta.dirname, "..");
/** One more than the cores of a small machine: there is always one that waits for a browser, a lease or a process. */
const filesAtOnce = 3;
const fileTimeoutSeconds = 300;
/** A process that has finished its tests and still does not end after this time has left something open. */
const quietSeconds = Number(
  process.argv.find((argument) => argument.startsWith("--quiet-seconds="))?.split("=")[1] ?? 15,
);

type Gate = { name: string; run(): Promise<{ ok: boolean; output: string }> };
type Prepared = { environment: Record<string, string>; close(): Promise<void> };
type Outcome = {
  passed: number;
  failures: { name: string; text: string }[];
  /** `count` where one line stands for several. */
  skips: { name: string; reason: string; count?: number }[];
};

/** Checks of the source that count as one test each. They run while PostgreSQL starts and the first files run. */
const gates: Gate[] = [
  { name: "types (tsc)", run: () => runTool("tsc", ["-p", "tsconfig.json"]) },
  { name: "types of the verify app", run: () => runTool("tsc", ["-p", "apps/verify/tsconfig.json"]) },
  { name: "types of the dashboard", run: () => runTool("tsc", ["-p", "apps/dashboard/tsconfig.json"]) },
  { name: "format and lint (biome)", run: () => runTool("biome", ["check", "--colors=off"]) },
];

async function main(): Promise<number> {
  const startedAt = Date.now();
  const filters = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
  const files = findTestFiles(filters);
  const total: Outcome = { passed: 0, failures: [], skips: [] };
  const add = (outcome: Outcome) => {
    total.passed += outcome.passed;
    total.failures.push(...outcome.failures);
    total.skips.push(...outcome.skips);
  };

  // Somebody who works on one file wants that file's answer; the whole run checks everything.
  const gatesToRun = filters.length === 0 ? gates : [];
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
    const seenCodes = path.join(await mkdtemp(path.join(tmpdir(), "assay-codes-")), "seen");
    const environment = {
      ...prepared.environment,
      ASSAY_TEST_SEEN_CODES: seenCodes,
      ...(browser === null ? {} : { CHROMIUM_PATH: browser }),
    };
    const patient = waiting.filter(isPatient);
    const busy = waiting.filter((file) => !isPatient(file));
    const worker = async (...queues: string[][]): Promise<void> => {
      const next = () => queues.find((queue) => queue.length > 0)?.shift();
      for (let file = next(); file !== undefined && !interrupted; file = next())
        add(await runFile(file, environment));
    };
    await Promise.all([
      ...Array.from({ length: filesAtOnce }, () => worker(busy, patient)),
      // A lane of their own: one that waits for a lease to run out must not keep a core from the others.
      worker(patient),
      checking,
    ]);
    if (filters.length === 0) add(await checkErrorCodes(seenCodes));
    await rm(path.dirname(seenCodes), { recursive: true, force: true });
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
  const ranNothing = total.passed + total.failures.length === 0;
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

function findTestFiles(filters: readonly string[]): string[] {
  return globSync("{apps/*,packages/*,scripts,bench}/**/*.test.ts", {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist)(\/|$)/.test(name),
  })
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .concat(filters.filter((filter) => filter.endsWith(".fixture.ts") && existsSync(path.join(root, filter))))
    .sort();
}

/** Files that spend most of their time waiting for servers to die, wake up and give up. */
function isPatient(file: string): boolean {
  return file.includes("/test/faults/");
}

function isBrowserTest(file: string): boolean {
  return file.endsWith(".browser.test.ts");
}

async function runGate(gate: Gate): Promise<Outcome> {
  const startedAt = Date.now();
  const { ok, output } = await gate.run().catch((error: Error) => ({ ok: false, output: String(error) }));
  print(`${ok ? "ok  " : "FAIL"}  ${gate.name}  ${seconds(startedAt)}`);
  if (ok) return { passed: 1, failures: [], skips: [] };
  print(indent(output));
  return { passed: 0, failures: [{ name: gate.name, text: output }], skips: [] };
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

/** One test file in a process group of its own, so that whatever it started ends with it. */
function runFile(file: string, environment: Record<string, string>): Promise<Outcome> {
  const startedAt = Date.now();
  const outcome: Outcome = { passed: 0, failures: [], skips: [] };
  const reporter = new URL("./test-reporter.ts", import.meta.url).href;
  const child = spawn(
    process.execPath,
    [`--test-reporter=${reporter}`, "--test-reporter-destination=stdout", file],
    {
      cwd: root,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: { ...process.env, NODE_ENV: "test", ...environment },
    },
  );
  running.add(child.pid ?? 0);
  const endProcesses = () => killGroup(child.pid ?? 0);

  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString("utf8")).slice(-100_000);
    });
  }
  let verdict: string | null = null;
  let unfinished = 0;
  let seen = 0;
  const endWith = (reason: string) => {
    verdict = reason;
    // It tells what is still open; one that cannot even do that is ended all the same.
    child.kill("SIGUSR2");
    setTimeout(endProcesses, 500);
  };
  const limit = setTimeout(
    () => endWith(`did not end within ${fileTimeoutSeconds} s`),
    fileTimeoutSeconds * 1000,
  );
  const quiet = setTimeout(() => {
    if (seen > 0 && unfinished === 0) {
      endWith(
        `all its tests are done, but the process does not end: something was left open (a server, a timer, a connection)`,
      );
    } else quiet.refresh();
  }, quietSeconds * 1000);

  createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
    quiet.refresh();
    const event = JSON.parse(line) as TestReport;
    if (event.type === "enqueued") {
      unfinished++;
      seen++;
    } else if (event.type === "completed") unfinished--;
    else if (event.type === "passed") outcome.passed++;
    else if (event.type === "skipped")
      outcome.skips.push({ name: `${file} > ${event.name}`, reason: event.reason });
    else if (!event.suiteOnly) outcome.failures.push({ name: `${file} > ${event.name}`, text: event.error });
  });

  return new Promise((resolve) => {
    child.on("error", (error) => {
      verdict = error.message;
    });
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      clearTimeout(quiet);
      // Children that outlive the test process belong to nobody any more.
      endProcesses();
      running.delete(child.pid ?? 0);
      if (verdict === null && outcome.failures.length === 0) {
        if (signal !== null) verdict = `was ended by ${signal}`;
        else if (code !== 0) verdict = `ended with exit code ${code}`;
        else if (outcome.passed + outcome.skips.length === 0) verdict = "holds no test";
      }
      if (verdict !== null) outcome.failures.push({ name: file, text: verdict });
      const { passed, failures, skips } = outcome;
      const counts = [
        `${passed} passed`,
        ...(failures.length > 0 ? [`${failures.length} failed`] : []),
        ...(skips.length > 0 ? [`${skips.length} skipped`] : []),
      ];
      print(
        `${failures.length === 0 ? "ok  " : "FAIL"}  ${file}  ${counts.join(", ")}  ${seconds(startedAt)}`,
      );
      for (const failure of failures) print(indent(`${failure.name}\n${indent(failure.text)}`));
      if (failures.length > 0 && output.trim() !== "")
        print(indent(`output of ${file}:\n${indent(output.trim())}`));
      resolve(outcome);
    });
  });
}

const running = new Set<number>();
let interrupted = false;

function killGroup(pid: number): void {
  if (pid <= 0) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {}
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
  browser: string | null;
  skips: Outcome["skips"];
  failures: Outcome["failures"];
};

/** A browser and fresh web apps are wanted only when a browser test was picked. */
function prepareBrowserTests(files: readonly string[]): BrowserTests {
  const browserTests = files.filter(isBrowserTest);
  if (browserTests.length === 0) return { waiting: [...files], browser: null, skips: [], failures: [] };
  const others = files.filter((file) => !isBrowserTest(file));
  const { path: browser, reason } = findBrowser(thisMachine);
  if (browser === null) {
    const name = `${browserTests.length} files of browser tests`;
    const skips = [{ name, reason, count: browserTests.length }];
    return { waiting: others, browser, skips, failures: [] };
  }
  const built = buildWebApps();
  if (built.ok) return { waiting: [...files], browser, skips: [], failures: [] };
  print(`FAIL  the web apps for the browser tests\n${indent(built.output)}`);
  const failures = [{ name: "the web apps for the browser tests", text: built.output }];
  return { waiting: others, browser, skips: [], failures };
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

// --- printing ---------------------------------------------------------------------------------------------------------

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, "      ");
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted = true;
    for (const pid of running) killGroup(pid);
  });
}
const exitCode = await main();
process.exitCode = interrupted ? 130 : exitCode;
