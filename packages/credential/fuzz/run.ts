// Feeds hostile inputs to every reader of what wallets, issuers and publishers of lists send, and fails when one throws anything but the
// package's own error, takes too long, changes its input, accepts a changed presentation or lets memory grow.
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { fuzz } from "./fuzz.ts";
import { allReaders } from "./readers.ts";

const limitMilliseconds = 500;
const maxGrowthMegabytes = 64;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** What is kept, and not what waits to be freed. */
function megabytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

function wholeNumber(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      inputs: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
    },
  });
  const only = values.only ?? [];
  const unknown = only.find((name) => !allReaders.some((reader) => reader.name === name));
  if (unknown !== undefined)
    throw new Error(`--only knows ${allReaders.map((reader) => reader.name).join(", ")}`);
  const readers = only.length === 0 ? allReaders : allReaders.filter((reader) => only.includes(reader.name));
  const startedAt = performance.now();
  const memoryAtStart = megabytes();
  const { tallies, failures } = await fuzz({
    readers,
    inputs: wholeNumber(values.inputs, "inputs"),
    seed: wholeNumber(values.seed, "seed"),
    limitMilliseconds,
  });
  for (const tally of tallies) {
    const refusals = [...tally.refusals]
      .sort(([, a], [, b]) => b - a)
      .map(([code, count]) => `${code} ${count}`);
    console.log(
      `${tally.name.padEnd(24)} ${String(tally.inputs).padStart(8)} inputs ${String(tally.accepted).padStart(8)} read ` +
        `slowest ${tally.slowestMilliseconds.toFixed(1).padStart(6)} ms  ${refusals.join(", ")}`,
    );
  }
  for (const { reader, problem, inputHex } of failures)
    console.error(`\n${reader} ${problem}\ninput: ${inputHex}`);
  const growth = megabytes() - memoryAtStart;
  const inputs = tallies.reduce((sum, tally) => sum + tally.inputs, 0);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `\n${inputs} inputs to ${readers.length} readers in ${seconds.toFixed(0)} s, seed ${values.seed}: ${failures.length} failures, ` +
      `memory grew by ${growth.toFixed(0)} MB`,
  );
  if (growth > maxGrowthMegabytes) console.error(`Memory grew by more than ${maxGrowthMegabytes} MB`);
  return failures.length > 0 || growth > maxGrowthMegabytes ? 1 : 0;
}

process.exitCode = await main();
