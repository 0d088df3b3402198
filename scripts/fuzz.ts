// `npm run fuzz -- chip|wallet|mrz`: feeds hostile inputs to every reader of a package. It fails if one
// throws anything but the package's error, quotes or changes its input, or takes too much time or memory.
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { tally } from "../apps/server/test/support/tally.ts";
import { walletTarget } from "../packages/credential/fuzz/readers.ts";
import { chipTarget } from "../packages/emrtd/fuzz/readers.ts";
import { mrzTarget } from "../packages/mrz-reader/fuzz/readers.ts";
import { fuzz, shareInputs } from "./fuzz/fuzz.ts";
import type { FuzzTarget } from "./fuzz/fuzz-target.ts";

const targets = new Map<string, FuzzTarget>([
  ["chip", chipTarget],
  ["wallet", walletTarget],
  ["mrz", mrzTarget],
]);

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const mebibyte = 1024 * 1024;
/** Inputs per reader before memory is first measured, so that loading and compiling do not count. */
const warmUpInputs = 20;

function wholeNumber(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

/**
 * Heap use after garbage collection.
 * It runs several times, because memory outside of the heap is freed later.
 */
async function keptMegabytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    collectGarbage();
    await setTimeout(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}

/** The highest resident memory that the kernel has seen, garbage and native memory included. */
function highestResidentMegabytes(): number {
  return process.resourceUsage().maxRSS / 1024;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      inputs: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
    },
  });
  const all = targets.get(positionals[0] ?? "");
  if (all === undefined) throw new Error(`usage: npm run fuzz -- ${[...targets.keys()].join("|")}`);
  const names = all.readers.map(({ name }) => name);
  const only = values.only ?? names;
  if (!only.every((name) => names.includes(name))) throw new Error(`--only knows ${names.join(", ")}`);
  const readers = all.readers.filter(({ name }) => only.includes(name));
  const target = { ...all, readers };
  const asked = Math.ceil(wholeNumber(values.inputs, "inputs") / (target.oneIn ?? 1));
  const seed = wholeNumber(values.seed, "seed");

  const startedAt = performance.now();
  await fuzz(target, { inputsOf: () => warmUpInputs, seed, isTimed: false });
  const keptAtStart = await keptMegabytes();
  const residentAtStart = process.memoryUsage.rss() / mebibyte;
  const { tallies, failures } = await fuzz(target, {
    inputsOf: shareInputs(readers, asked),
    seed,
    isTimed: true,
  });

  for (const each of tallies) {
    const refusals = [...each.refusals]
      .sort(([, a], [, b]) => b - a)
      .map(([code, count]) => `${code} ${count}`);
    console.log(
      `${each.name.padEnd(24)} ${String(each.inputs).padStart(8)} inputs ${String(each.accepted).padStart(8)} read ` +
        `${each.cpuSeconds.toFixed(0).padStart(5)} s of CPU, slowest ${each.slowestMilliseconds.toFixed(1).padStart(6)} ms  ${refusals.join(", ")}`,
    );
  }
  for (const { reader, problem, inputHex } of failures)
    console.error(`\n${reader} ${problem}\ninput: ${inputHex}`);
  const resident = highestResidentMegabytes() - residentAtStart;
  const kept = (await keptMegabytes()) - keptAtStart;
  const sum = (of: (each: (typeof tallies)[number]) => number) =>
    tallies.reduce((total, each) => total + of(each), 0);
  console.log(
    `\n${sum(({ inputs }) => inputs)} inputs to ${readers.length} readers, seed ${seed}, in ` +
      `${((performance.now() - startedAt) / 1000).toFixed(0)} s (${sum(({ cpuSeconds }) => cpuSeconds).toFixed(0)} s of CPU): ${failures.length} failures\n` +
      `memory: resident at most ${resident.toFixed(1)} MiB above the ${residentAtStart.toFixed(0)} MiB at the start ` +
      `(limit ${target.maxResidentMegabytes} MiB, garbage included); kept after collection ${kept.toFixed(1)} MiB more`,
  );
  tally(
    "hostile inputs",
    sum(({ inputs }) => inputs),
  );
  if (resident > target.maxResidentMegabytes) console.error("too much memory");
  return failures.length > 0 || resident > target.maxResidentMegabytes ? 1 : 0;
}

process.exitCode = await main();
