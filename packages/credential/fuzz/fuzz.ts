import { Dice } from "../../emrtd/fuzz/dice.ts";
import { CredentialError } from "../src/credential-error.ts";
import type { FuzzReader } from "./fuzz-reader.ts";

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
  /** Read without an error. A reader that returns a verdict has no errors. */
  accepted: number;
  readonly refusals: Map<string, number>;
  slowestMilliseconds: number;
};

export type FuzzFailure = { readonly reader: string; readonly problem: string; readonly inputHex: string };
export type FuzzResult = {
  readonly tallies: readonly ReaderTally[];
  readonly failures: readonly FuzzFailure[];
};

/** Personal data in the seeds. An error that quotes its input would show one of them. */
const canaries = /Čapek|Ærø|1990-02-28|T220001293|ERIKSSON/;
const enoughFailures = 20;

/** Fails a reader that throws anything but `CredentialError`, quotes its input, changes it or takes too long. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const failures: FuzzFailure[] = [];
  const tallies: ReaderTally[] = [];
  const each = Math.ceil(options.inputs / Math.max(options.readers.length, 1));
  for (const reader of options.readers) {
    const tally = { name: reader.name, inputs: 0, accepted: 0, refusals: new Map(), slowestMilliseconds: 0 };
    tallies.push(tally);
    const seeds = reader.seeds();
    const nameSeed = [...reader.name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
    for (let index = 0; index < each && failures.length < enoughFailures; index++) {
      const input = reader.damage(seeds, new Dice(options.seed, nameSeed, index));
      const problem = await judge(reader, input, tally, options.limitMilliseconds);
      if (problem !== null)
        failures.push({ reader: reader.name, problem, inputHex: Buffer.from(input).toString("hex") });
    }
  }
  return { tallies, failures };
}

/** Of the processor, so that other work on the machine does not count. */
function cpuMilliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function judge(
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally,
  limitMilliseconds = Number.POSITIVE_INFINITY,
): Promise<string | null> {
  const copy = Uint8Array.from(input);
  const startedAt = cpuMilliseconds();
  const problem = await attempt(reader, input, tally);
  const milliseconds = cpuMilliseconds() - startedAt;
  tally.inputs++;
  tally.slowestMilliseconds = Math.max(tally.slowestMilliseconds, milliseconds);
  if (problem !== null) return problem;
  if (!copy.every((byte, index) => byte === input[index])) return "changed its input";
  if (milliseconds <= limitMilliseconds) return null;
  // The collector may run in one of them, but hardly in three in a row.
  for (let again = 0; again < 2; again++) {
    const restartedAt = cpuMilliseconds();
    await attempt(reader, input, null);
    if (cpuMilliseconds() - restartedAt <= limitMilliseconds) return null;
  }
  return `took ${milliseconds.toFixed(0)} ms`;
}

async function attempt(
  reader: FuzzReader,
  input: Uint8Array,
  tally: ReaderTally | null,
): Promise<string | null> {
  try {
    await reader.read(input);
    if (tally !== null) tally.accepted++;
    return null;
  } catch (error) {
    if (!(error instanceof CredentialError))
      return `threw ${error instanceof Error ? error.stack : String(error)}`;
    if (canaries.test(error.message)) return `quoted personal data: ${error.message}`;
    tally?.refusals.set(error.code, (tally.refusals.get(error.code) ?? 0) + 1);
    return null;
  }
}
