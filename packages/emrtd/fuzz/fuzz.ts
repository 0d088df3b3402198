import { toHex } from "../src/bytes.ts";
import { EmrtdError } from "../src/emrtd-error.ts";
import { Dice } from "./dice.ts";
import type { FuzzReader } from "./fuzz-reader.ts";
import { hostileInput } from "./mutate.ts";

export type FuzzOptions = {
  readonly readers: readonly FuzzReader[];
  /** Spread evenly over the readers. */
  readonly inputs: number;
  readonly seed: number;
  /** An input that takes longer, three times in a row, is a failure. Without it time is not judged. */
  readonly limitMilliseconds?: number;
};

export type ReaderTally = {
  readonly name: string;
  inputs: number;
  accepted: number;
  readonly refusals: Map<string, number>;
  slowestMilliseconds: number;
};

export type FuzzFailure = {
  readonly reader: string;
  readonly problem: string;
  readonly inputHex: string;
};

export type FuzzResult = {
  readonly tallies: readonly ReaderTally[];
  readonly failures: readonly FuzzFailure[];
};

/** Personal data in the seeds. An error that quotes its input would show one of them. */
const canaries = /ERIKSSON|STEVENSON|L898902|D231458|740812|ANNA/;
const enoughFailures = 20;

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const failures: FuzzFailure[] = [];
  const tallies: ReaderTally[] = [];
  const each = Math.ceil(options.inputs / Math.max(options.readers.length, 1));
  for (const reader of options.readers) {
    const tally: ReaderTally = {
      name: reader.name,
      inputs: 0,
      accepted: 0,
      refusals: new Map(),
      slowestMilliseconds: 0,
    };
    tallies.push(tally);
    const seeds = reader.seeds();
    const nameSeed = [...reader.name].reduce(
      (sum, character) => Math.imul(sum, 31) + character.charCodeAt(0),
      7,
    );
    for (let index = 0; index < each && failures.length < enoughFailures; index++) {
      const input = hostileInput(reader, seeds, new Dice(options.seed, nameSeed, index));
      const problem = await judge(reader, input, tally, options.limitMilliseconds);
      if (problem !== null) failures.push({ reader: reader.name, problem, inputHex: toHex(input) });
    }
  }
  return { tallies, failures };
}

async function judge(
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally,
  limitMilliseconds: number | undefined,
): Promise<string | null> {
  const copy = Uint8Array.from(input);
  const startedAt = performance.now();
  const problem = await attempt(reader, input, tally);
  const milliseconds = performance.now() - startedAt;
  tally.inputs++;
  tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, milliseconds);
  if (problem !== null) return problem;
  for (let index = 0; index < copy.length; index++) {
    if (copy[index] !== input[index]) return "changed its input";
  }
  // Other work on the machine may stop a quick reader for a while, but hardly three times in a row.
  if (limitMilliseconds !== undefined && milliseconds > limitMilliseconds) {
    for (let again = 0; again < 2; again++) {
      const restartedAt = performance.now();
      await attempt(reader, input, undefined);
      if (performance.now() - restartedAt <= limitMilliseconds) return null;
    }
    return `took ${milliseconds.toFixed(0)} ms`;
  }
  return null;
}

async function attempt(
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally | undefined,
): Promise<string | null> {
  try {
    const result = reader.read(input);
    if (result instanceof Promise) await result;
    if (tally !== undefined) tally.accepted++;
    return null;
  } catch (error) {
    if (!(error instanceof EmrtdError))
      return `threw ${error instanceof Error ? error.stack : String(error)}`;
    if (canaries.test(error.message)) return `quoted personal data: ${error.message}`;
    tally?.refusals.set(error.code, (tally.refusals.get(error.code) ?? 0) + 1);
    return null;
  }
}
