import { Dice } from "./dice.ts";
import type { FuzzReader, FuzzTarget } from "./fuzz-target.ts";

export type FuzzOptions = {
  /** Number of inputs per reader. */
  readonly inputsOf: (reader: FuzzReader) => number;
  readonly seed: number;
  /** An input that takes longer than the target allows, three times in a row, is a failure. */
  readonly isTimed: boolean;
};

export type ReaderTally = {
  readonly name: string;
  inputs: number;
  /** Read without an error. A reader that returns a verdict has no errors. */
  accepted: number;
  readonly refusals: Map<string, number>;
  slowestMilliseconds: number;
  cpuSeconds: number;
};

export type FuzzFailure = { readonly reader: string; readonly problem: string; readonly inputHex: string };
export type FuzzResult = {
  readonly tallies: readonly ReaderTally[];
  readonly failures: readonly FuzzFailure[];
};

const enoughFailures = 20;
/** Share of all inputs for each costly reader. The others share the rest. */
const costlyShare = 0.01;

export function shareInputs(readers: readonly FuzzReader[], inputs: number): FuzzOptions["inputsOf"] {
  const costly = readers.filter(({ isCostly }) => isCostly).length;
  const others = readers.length - costly;
  if (costly === 0 || others === 0) return () => Math.ceil(inputs / readers.length);
  const few = Math.ceil(inputs * Math.min(costlyShare, 1 / readers.length));
  const many = Math.ceil((inputs - few * costly) / others);
  return ({ isCostly }) => (isCostly ? few : many);
}

/**
 * Fails a reader that throws anything but the package's error,
 * quotes or changes its input, or takes too long.
 */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const failures: FuzzFailure[] = [];
  const tallies: ReaderTally[] = [];
  for (const reader of target.readers) {
    const tally: ReaderTally = {
      name: reader.name,
      inputs: 0,
      accepted: 0,
      refusals: new Map(),
      slowestMilliseconds: 0,
      cpuSeconds: 0,
    };
    tallies.push(tally);
    const startedAt = cpuMilliseconds();
    const seeds = reader.seeds();
    const nameSeed = [...reader.name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
    const inputs = options.inputsOf(reader);
    for (let index = 0; index < inputs && failures.length < enoughFailures; index++) {
      const input = reader.damage(seeds, new Dice(options.seed, nameSeed, index));
      const problem = await judge(target, reader, input, tally, options.isTimed);
      if (problem !== null)
        failures.push({ reader: reader.name, problem, inputHex: Buffer.from(input).toString("hex") });
    }
    tally.cpuSeconds = (cpuMilliseconds() - startedAt) / 1000;
  }
  return { tallies, failures };
}

/** Processor time, so that other load does not count. */
function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function judge(
  target: FuzzTarget,
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally,
  isTimed: boolean,
): Promise<string | null> {
  const copy = input.slice();
  const startedAt = cpuMilliseconds();
  const problem = await attempt(target, reader, input, tally);
  const milliseconds = cpuMilliseconds() - startedAt;
  tally.inputs++;
  tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, milliseconds);
  if (problem !== null) return problem;
  if (Buffer.compare(copy, input) !== 0) return "changed its input";
  if (!isTimed || milliseconds <= target.maxMilliseconds) return null;
  // The collector may run in one of them, but hardly in three in a row.
  for (let again = 0; again < 2; again++) {
    const restartedAt = cpuMilliseconds();
    await attempt(target, reader, input, null);
    if (cpuMilliseconds() - restartedAt <= target.maxMilliseconds) return null;
  }
  return `took ${milliseconds.toFixed(0)} ms`;
}

async function attempt(
  target: FuzzTarget,
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally | null,
): Promise<string | null> {
  try {
    const result = reader.read(input);
    if (result instanceof Promise) await result;
    if (tally !== null) tally.accepted++;
    return null;
  } catch (error) {
    if (!(error instanceof target.refusal)) return `threw ${await withStack(reader, input, error)}`;
    if (target.canaries.test(error.message)) return `quoted personal data: ${error.message}`;
    const code = error.code ?? "refused";
    tally?.refusals.set(code, (tally.refusals.get(code) ?? 0) + 1);
    return null;
  }
}

/** Most inputs end in an error, so stacks are off for speed. A failing input is read again with a stack. */
async function withStack(reader: FuzzReader, input: Uint8Array, error: unknown): Promise<string> {
  const usual = Error.stackTraceLimit;
  Error.stackTraceLimit = 20;
  try {
    await reader.read(input);
  } catch (again) {
    if (again instanceof Error) return String(again.stack);
  } finally {
    Error.stackTraceLimit = usual;
  }
  return String(error);
}
