// A process that loads the tests of a module once,
// then activates one mutant after the other and runs the tests that reach it.
import { importsOf } from "./hooks.ts";
import type { Hits, Job, Mode, Notice, Plan, PlannedFile, PlannedTest, Result } from "./plan.ts";
import { report } from "./report.ts";
import { newFile, runTest } from "./stand-in.ts";
import {
  close,
  countLoads,
  limitOf,
  load,
  loadImports,
  maxLoadMs,
  patience,
  runFile,
  stryker,
} from "./test-file.ts";

/** A mutant that had so much of a processor, by what the tests usually take, counts as one that survives. */
const maxCpuMsForMutant = 20_000;
/** Memory of earlier loads is freed with the process. */
const maxLoads = 150;

// --- before the first mutant -------------------------------------------------------------------------------

/** Runs every test once and notes which mutants it reaches. */
async function makePlan(files: readonly string[]): Promise<Plan> {
  const plan: Plan = { files: [], statics: [], failing: [] };
  const hitsOf = (id: string): Hits => stryker.mutantCoverage.perTest[id] ?? {};
  const watch = async <T>(
    id: string,
    work: () => Promise<T>,
  ): Promise<{ result: T; ms: number; cpuMs: number }> => {
    stryker.currentTestId = id;
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const result = await work();
    stryker.currentTestId = undefined;
    const { user, system } = process.cpuUsage(cpuBefore);
    return { result, ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  };
  for (const file of files) {
    await report({ kind: "beat", id: null, maxMs: maxLoadMs });
    await loadImports(file);
    const loaded = newFile();
    const { result: url, cpuMs: loadCpuMs } = await watch(file, () => load(file, loaded));
    const opensSomething = loaded.after.length + loaded.before.length > 0;
    const tests: PlannedTest[] = [];
    for (const test of loaded.tests) {
      const maxMs = limitOf({ ms: 10_000 });
      await report({ kind: "beat", id: null, maxMs });
      const id = `${file} > ${test.name}`;
      const { result, ms, cpuMs } = await watch(id, () => runTest(loaded, test, maxMs));
      if (result.kind === "passed") tests.push({ name: test.name, ms, cpuMs, hits: hitsOf(id) });
      else plan.failing.push(`${id}: ${result.kind === "failed" ? result.reason : "does not end"}`);
    }
    if (opensSomething) await close(loaded);
    const mode = opensSomething ? "reload" : "keep";
    const modules = [...modulesOf(url)];
    plan.files.push({ file, mode, loadCpuMs, loadHits: hitsOf(file), tests, modules });
  }
  plan.statics = Object.keys(stryker.mutantCoverage.static);
  return plan;
}

function modulesOf(url: string, seen = new Set<string>()): Set<string> {
  for (const imported of importsOf.get(url) ?? []) {
    if (seen.has(imported) || !imported.startsWith("file:")) continue;
    modulesOf(imported, seen.add(imported));
  }
  return seen;
}

// --- mutants -----------------------------------------------------------------------------------------------

type Choice = { planned: PlannedFile; tests: readonly PlannedTest[]; cpuMs: number };

function choose(planned: PlannedFile, isWanted: (test: PlannedTest) => boolean): Choice {
  const wanted = planned.tests.filter(isWanted);
  const last = wanted.at(-1);
  const isWhole = planned.mode === "whole" && last !== undefined;
  const tests = isWhole ? planned.tests.slice(0, planned.tests.indexOf(last) + 1) : wanted;
  const loadCpuMs = planned.mode === "keep" ? 0 : planned.loadCpuMs;
  return { planned, tests, cpuMs: tests.reduce((sum, { cpuMs }) => sum + cpuMs, loadCpuMs) };
}

/** The tests that reach a mutant. */
function choicesFor(plan: Plan, id: string): Choice[] {
  return plan.files.map((planned) =>
    choose(planned, ({ hits }) => Object.hasOwn(planned.loadHits, id) || Object.hasOwn(hits, id)),
  );
}

/** `late`: a test did not end, so that this process is of no more use. */
type Try = Result | { id: string; status: "late"; by: Notice };

async function tryMutant(id: string, choices: readonly Choice[], isStatic: boolean): Promise<Try> {
  const cheapestFirst = choices.filter(({ tests }) => tests.length > 0).sort((a, b) => a.cpuMs - b.cpuMs);
  if (cheapestFirst.length === 0) return { id, status: "uncovered" };
  let spentCpuMs = 0;
  for (const { planned, tests, cpuMs } of cheapestFirst) {
    if (spentCpuMs > 0 && spentCpuMs + cpuMs > maxCpuMsForMutant)
      return { id, status: "survived", isCutShort: true };
    spentCpuMs += cpuMs;
    const { ending, by } = await runFile(planned, tests, { id, isStatic });
    if (ending.kind === "late") return { id, status: "late", by };
    if (ending.kind === "failed") return { id, status: "killed", by };
  }
  return { id, status: "survived" };
}

const nextMode: Readonly<Record<Mode, Mode | null>> = { keep: "reload", reload: "whole", whole: null };

/**
 * Runs a test that noticed a mutant without it. A flaky test is left out from now on; one that always fails
 * may need a more careful mode. In both cases the file's earlier results are discarded.
 */
async function checkTest(planned: PlannedFile, test: string): Promise<"passes" | "changed" | "fails"> {
  const runWithout = () => runFile(planned, choose(planned, ({ name }) => name === test).tests, null);
  for (let before = planned.mode; ; ) {
    const { ending, by } = await runWithout();
    if (ending.kind === "passed") return planned.mode === before ? "passes" : "changed";
    if (ending.kind === "late") return "fails";
    if ((await runWithout()).ending.kind === "passed") {
      planned.tests = planned.tests.filter(({ name }) => name !== test);
      await report({ kind: "unsteady", by });
      return "changed";
    }
    const mode = nextMode[planned.mode];
    if (mode === null) return "fails";
    planned.mode = mode;
    await report({ kind: "mode", by, mode });
  }
}

/**
 * Tries some mutants, then repeats the tests that noticed one without it: a test that still fails has noticed
 * nothing. Returns whether the process can continue.
 */
async function tryBatch(plan: Plan, ids: readonly string[]): Promise<boolean> {
  const results = new Map<string, Result>();
  let late: { id: string; by: Notice } | null = null;
  let left = ids;
  while (left.length > 0) {
    for (const id of left) {
      const result = await tryMutant(id, choicesFor(plan, id), false);
      if (result.status === "late") late = result;
      else results.set(id, result);
      if (late !== null) break;
    }
    const changed = await checkNotices(plan, results.values());
    if (changed === null) {
      await report({ kind: "spoilt", ids });
      return false;
    }
    left = ids.filter((id) => changed.has(results.get(id)?.by?.file ?? ""));
    for (const id of left) results.delete(id);
    if (late !== null) break;
  }
  await report({ kind: "results", results: [...results.values()] });
  if (late !== null) await report({ kind: "late", id: late.id, by: late.by });
  return late === null;
}

/** The files whose results are discarded, or null if a test fails in any mode: the process is spoilt. */
async function checkNotices(plan: Plan, results: Iterable<Result>): Promise<Set<string> | null> {
  const changed = new Set<string>();
  const checked = new Set<string>();
  for (const { by } of results) {
    const planned = plan.files.find(({ file }) => file === by?.file);
    if (by === undefined || planned === undefined || checked.has(`${by.file} > ${by.test}`)) continue;
    checked.add(`${by.file} > ${by.test}`);
    const end = await checkTest(planned, by.test);
    if (end === "fails") return null;
    if (end === "changed") changed.add(by.file);
  }
  return changed;
}

async function work(job: Job): Promise<void> {
  if (job.kind !== "plan") patience.factor = job.patience;
  if (job.kind === "plan") await report({ kind: "planned", plan: await makePlan(job.files) });
  else if (job.kind === "static") {
    const files = job.plan.files.filter(({ modules }) => modules.includes(job.module));
    const choices = files.map((planned) => choose(planned, () => true));
    const result = await tryMutant(job.id, choices, true);
    await report(
      result.status === "late"
        ? { kind: "late", id: result.id, by: result.by }
        : { kind: "results", results: [result] },
    );
  } else
    for (let from = 0; from < job.ids.length && countLoads() < maxLoads; from += job.batchSize) {
      const ids = job.ids.slice(from, from + job.batchSize);
      if (!(await tryBatch(job.plan, ids))) break;
    }
  process.exit(0);
}

process.once("disconnect", () => process.exit(1));
process.once("message", (job: Job) => {
  work(job).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
