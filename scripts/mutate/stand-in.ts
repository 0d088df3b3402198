// Replaces node:test while mutants are tried:
// it collects the tests of a file, so that each can be run on demand.
import { mock } from "node:test";

type Hook = () => unknown;
type Options = { skip?: boolean | string; todo?: boolean | string };
type Work = (context: unknown) => unknown;
export type CollectedTest = { name: string; work: Work };
export type CollectedFile = {
  tests: CollectedTest[];
  before: Hook[];
  after: Hook[];
  beforeEach: Hook[];
  afterEach: Hook[];
};
export type Ending = { kind: "passed" | "late" } | { kind: "failed"; reason: string };

let collecting = newFile();
/** Hooks for the end of the running test. */
let ending: Hook[] | null = null;
const groups: string[] = [];
const MockTracker = mock.constructor as new () => typeof mock;

export function newFile(): CollectedFile {
  return { tests: [], before: [], after: [], beforeEach: [], afterEach: [] };
}

/** Tests registered from now on belong to this file. */
export function collectInto(file: CollectedFile): void {
  collecting = file;
}

function addTest(name: string, ...rest: [Work] | [Options, Work?]): void {
  const [options, work] =
    rest.length === 1 && typeof rest[0] === "function" ? [{}, rest[0]] : [rest[0] as Options, rest[1]];
  const isLeftOut =
    work === undefined || (options.skip ?? false) !== false || (options.todo ?? false) !== false;
  if (!isLeftOut) collecting.tests.push({ name: [...groups, name].join(" > "), work });
}

function addGroup(name: string, work: () => void): void {
  groups.push(name);
  work();
  groups.pop();
}

export const test = Object.assign(addTest, { test: addTest, skip: () => {}, todo: () => {} });
// biome-ignore lint/style/noDefaultExport: node:test has one.
export { addGroup as describe, addGroup as suite, mock, test as default, test as it };

export const before = (hook: Hook): void => void collecting.before.push(hook);
export const after = (hook: Hook): void => void (ending ?? collecting.after).push(hook);
export const beforeEach = (hook: Hook): void => void collecting.beforeEach.push(hook);
export const afterEach = (hook: Hook): void => void collecting.afterEach.push(hook);

export function runTest(file: CollectedFile, { name, work }: CollectedTest, maxMs: number): Promise<Ending> {
  const atEnd: Hook[] = [];
  const tracker = new MockTracker();
  const context = {
    name,
    mock: tracker,
    signal: new AbortController().signal,
    after: (hook: Hook) => void atEnd.push(hook),
    diagnostic: () => {},
    skip: () => {},
    test: async (_: string, ...rest: unknown[]) => (rest.at(-1) as Work)(context),
  };
  ending = atEnd;
  return inTime(maxMs, async () => {
    try {
      for (const hook of file.beforeEach) await hook();
      await work(context);
    } finally {
      ending = null;
      tracker.reset();
      for (const hook of [...atEnd, ...file.afterEach]) await hook();
    }
  });
}

export function runHooks(hooks: readonly Hook[], maxMs: number): Promise<Ending> {
  return inTime(maxMs, async () => {
    for (const hook of hooks) await hook();
  });
}

let fail: (error: unknown) => void = () => {};
// An unhandled error fails the running test, as in node:test.
process.on("uncaughtException", (error) => fail(error));
process.on("unhandledRejection", (error) => fail(error));
// A test may put its own clock in place of these.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

export async function inTime(maxMs: number, work: () => Promise<unknown>): Promise<Ending> {
  const stray = Promise.withResolvers<never>();
  fail = stray.reject;
  const late = Promise.withResolvers<"late">();
  const timer = startTimer(() => late.resolve("late"), maxMs);
  try {
    const end = await Promise.race([work(), stray.promise, late.promise]);
    return { kind: end === "late" ? "late" : "passed" };
  } catch (error) {
    return { kind: "failed", reason: String(error instanceof Error ? error.message : error).slice(0, 200) };
  } finally {
    stopTimer(timer);
    fail = () => {};
  }
}
