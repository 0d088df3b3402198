// `npm run mutate`: how much of the code that decides is held in place by tests. Each mutation of `mutations.ts` is put into
// a copy of the source, alone, and the tests it names are run on it: one of them must fail. `--only MODULE` and
// `--id A,B` pick some, `--at-once N` runs that many side by side.
import { spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { decisiveModules, findProblem, type Mutation, mutations, readSource } from "./mutations.ts";
import { startScratchPostgres } from "./scratch-postgres.ts";

const root = path.resolve(import.meta.dirname, "..");
/** Of the modules that decide. */
const goal = 0.95;
/** A file that takes so much longer than without the mutation has come to a halt; that counts as noticed, and is told. */
const patience = { factor: 6, leastMs: 60_000 };
const longestMs = 300_000;

type Ended = { failed: string | null; hung: boolean; ms: number };
type Verdict = { mutation: Mutation; killedBy: string | null; hung: boolean };

const running = new Set<number>();
let interrupted = false;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, id: { type: "string" }, "at-once": { type: "string" } },
  });
  const ids = values.id?.split(",");
  const picked = mutations.filter(
    ({ id, module }) =>
      (values.only === undefined || module === values.only) && (ids === undefined || ids.includes(id)),
  );
  if (picked.length === 0) return refuse("No mutation has this id or module.");
  const stale = picked.flatMap((mutation) => {
    const problem = findProblem(mutation, readSource(mutation.file));
    return problem === null ? [] : [`${mutation.id}: ${problem}`];
  });
  if (stale.length > 0) return refuse(stale.join("\n"));

  const scratch = await mkdtemp(path.join(tmpdir(), "assay-mutate-"));
  const server = await startScratchPostgres();
  try {
    const atOnce = Number(values["at-once"] ?? Math.max(1, Math.floor(availableParallelism() / 2)));
    const copies = Array.from({ length: atOnce }, (_, i) => path.join(scratch, `copy-${i}`));
    for (const copy of copies) copySource(copy);

    const limits = new Map<string, number>();
    const broken = new Map<string, string>();
    const files = [...new Set(picked.flatMap(({ tests }) => tests))];
    print(`${files.length} test files without a mutation, to see that they pass and how long they take…`);
    await inParallel(copies, files, async (copy, file) => {
      // Once more before it is believed: a machine with too much to do makes tests fail that are right.
      const first = await runTest(copy, file, server.url, longestMs);
      const { failed, ms } = first.failed === null ? first : await runTest(copy, file, server.url, longestMs);
      if (failed !== null) broken.set(file, failed);
      limits.set(file, Math.min(longestMs, Math.max(patience.leastMs, ms * patience.factor)));
    });
    // Nothing can be told by tests that fail anyway.
    for (const [file, failed] of broken) print(`fails without a mutation  ${file}: ${failed}`);
    const judged = picked.filter(({ tests }) => !tests.some((file) => broken.has(file)));

    const verdicts: Verdict[] = [];
    await inParallel(copies, judged, async (copy, mutation) => {
      const verdict = await tryMutation(copy, mutation, server.url, limits);
      if (interrupted) return;
      verdicts.push(verdict);
      const how = verdict.hung ? "killed (did not end)" : verdict.killedBy ? "killed  " : "SURVIVED";
      print(`${how}  ${mutation.module}  ${mutation.id}  ${verdict.killedBy ?? mutation.tests.join(", ")}`);
    });
    const untold = picked.filter((mutation) => !judged.includes(mutation));
    if (untold.length > 0) print(`\nNot judged: ${untold.map(({ id }) => id).join(", ")}`);
    return Math.max(summarize(verdicts), untold.length > 0 ? 1 : 0);
  } finally {
    await server.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function tryMutation(
  copy: string,
  mutation: Mutation,
  postgresUrl: string,
  limits: ReadonlyMap<string, number>,
): Promise<Verdict> {
  const file = path.join(copy, mutation.file);
  const source = readFileSync(file, "utf8");
  writeFileSync(
    file,
    source.replace(mutation.find, () => mutation.replace),
  );
  try {
    for (const test of mutation.tests) {
      if (interrupted) break;
      const { failed, hung } = await runTest(copy, test, postgresUrl, limits.get(test) ?? longestMs);
      if (failed !== null) return { mutation, killedBy: `${path.basename(test)}: ${failed}`, hung };
    }
    return { mutation, killedBy: null, hung: false };
  } finally {
    writeFileSync(file, source);
  }
}

function summarize(verdicts: readonly Verdict[]): number {
  let missed = false;
  print("\nmodule          killed   score");
  for (const [module, all] of Map.groupBy(verdicts, ({ mutation }) => mutation.module)) {
    const killed = all.filter(({ killedBy }) => killedBy !== null).length;
    const score = killed / all.length;
    if (decisiveModules.some((name) => name === module) && score < goal) missed = true;
    print(`${module.padEnd(14)}  ${`${killed}/${all.length}`.padEnd(7)}  ${(score * 100).toFixed(0)} %`);
  }
  const survived = verdicts.filter(({ killedBy }) => killedBy === null);
  const hung = verdicts.filter((verdict) => verdict.hung);
  print(`\n${verdicts.length - survived.length} of ${verdicts.length} killed`);
  if (hung.length > 0)
    print(`Killed by coming to a halt: ${hung.map(({ mutation }) => mutation.id).join(", ")}`);
  if (survived.length > 0) print(`Survived: ${survived.map(({ mutation }) => mutation.id).join(", ")}`);
  return missed ? 1 : 0;
}

/** What git would commit, with the installed packages of this checkout. */
function copySource(copy: string): void {
  const listed = spawnSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], { cwd: root });
  for (const file of listed.stdout.toString("utf8").split("\0")) {
    if (file === "") continue;
    mkdirSync(path.dirname(path.join(copy, file)), { recursive: true });
    try {
      copyFileSync(path.join(root, file), path.join(copy, file));
    } catch (error) {
      // Listed by git and deleted here.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  // Hard links cost nothing and are files of the copy: the worker that judges faces may read its own folders only. The links to the
  // workspaces are relative, so that here they lead to those of the copy.
  const modules = path.join(copy, "node_modules");
  const linked = spawnSync("cp", ["-al", path.join(root, "node_modules"), modules]);
  if (linked.status !== 0) {
    rmSync(modules, { recursive: true, force: true });
    cpSync(path.join(root, "node_modules"), modules, { recursive: true, verbatimSymlinks: true });
  }
  for (const folder of ["apps", "packages"]) {
    for (const name of readdirSync(path.join(copy, folder))) {
      const built = path.join(root, folder, name, "dist");
      try {
        readdirSync(built);
        symlinkSync(built, path.join(copy, folder, name, "dist"));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  }
}

/** One test file in a process group of its own. `failed` names the first test that failed. */
async function runTest(copy: string, file: string, postgresUrl: string, limitMs: number): Promise<Ended> {
  const startedAt = Date.now();
  const child = spawn(process.execPath, ["--test-reporter=tap", file], {
    cwd: copy,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      NODE_ENV: "test",
      ASSAY_TEST_POSTGRES: postgresUrl,
      // A cache of compiled source that outlives the run would keep every mutation for ever.
      NODE_COMPILE_CACHE: "",
      NODE_DISABLE_COMPILE_CACHE: "1",
    },
  });
  const pid = child.pid ?? 0;
  running.add(pid);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
    // The first failure settles it, and a broken service may take minutes over the rest.
    if (firstFailure(output) !== null) killGroup(pid);
    else output = output.slice(-200_000);
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString("utf8")).slice(-2000);
  });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    killGroup(pid);
  }, limitMs);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(timer);
  killGroup(pid);
  running.delete(pid);
  await dropDatabasesOf(pid, postgresUrl);
  const failed =
    firstFailure(output) ??
    (hung ? "did not end" : code === 0 ? null : `ended with exit code ${code}: ${complaint.trim()}`);
  return { failed, hung: hung && firstFailure(output) === null, ms: Date.now() - startedAt };
}

/** Also of a test inside of a suite, whose lines are indented. */
function firstFailure(tap: string): string | null {
  return /^ *not ok \d+ - (.*)$/m.exec(tap)?.[1] ?? null;
}

/** Hundreds of runs would fill the disk. */
async function dropDatabasesOf(pid: number, postgresUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: postgresUrl });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ datname: string }>(
      "select datname from pg_database where starts_with(datname, $1)",
      [`assay_test_${pid}_`],
    );
    for (const { datname } of rows) await admin.query(`drop database if exists ${datname} with (force)`);
  } finally {
    await admin.end();
  }
}

async function inParallel<T>(
  copies: readonly string[],
  items: readonly T[],
  work: (copy: string, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    copies.map(async (copy) => {
      for (let item = waiting.shift(); item !== undefined && !interrupted; item = waiting.shift())
        await work(copy, item);
    }),
  );
}

function killGroup(pid: number): void {
  try {
    if (pid > 0) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(why: string): number {
  process.stderr.write(`${why}\n`);
  return 1;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    interrupted = true;
    for (const pid of running) killGroup(pid);
  });
}
const exitCode = await main();
process.exitCode = interrupted ? 130 : exitCode;
