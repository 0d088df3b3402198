// Feeds hostile inputs to every reader of bytes and fails when one throws anything but the package's own error, takes too long,
// changes its input or lets memory grow.
import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";
import { allReaders } from "./readers.ts";

const limitMilliseconds = 500;
const limitGrowthMegabytes = 256;

function megabytes(): number {
  return process.resourceUsage().maxRSS / 1024;
}

function wholeNumber(text: string, name: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1`);
  return number;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      inputs: { type: "string", default: "1000000" },
      seed: { type: "string", default: "1" },
      only: { type: "string", multiple: true },
    },
  });
  const only = values.only ?? [];
  for (const name of only) {
    if (!allReaders.some((reader) => reader.name === name)) {
      throw new Error(`--only knows ${allReaders.map((reader) => reader.name).join(", ")}`);
    }
  }
  const readers = only.length === 0 ? allReaders : allReaders.filter((reader) => only.includes(reader.name));
  const startedAt = performance.now();
  const memoryAtStart = megabytes();
  const { tallies, failures } = await fuzz({
    readers,
    inputs: wholeNumber(values.inputs, "inputs"),
    seed: wholeNumber(values.seed, "seed"),
    limitMilliseconds: limitMilliseconds,
  });
  for (const tally of tallies) {
    const refusals = [...tally.refusals]
      .sort(([, a], [, b]) => b - a)
      .map(([code, count]) => `${code} ${count}`);
    console.log(
      `${tally.name.padEnd(24)} ${String(tally.inputs).padStart(8)} inputs ${String(tally.accepted).padStart(8)} accepted ` +
        `slowest ${tally.slowestMilliseconds.toFixed(1).padStart(6)} ms  ${refusals.join(", ")}`,
    );
  }
  for (const failure of failures) {
    console.error(`\n${failure.reader} ${failure.problem}\ninput: ${failure.inputHex}`);
  }
  const growth = megabytes() - memoryAtStart;
  const inputs = tallies.reduce((sum, tally) => sum + tally.inputs, 0);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `\n${inputs} inputs to ${readers.length} readers in ${seconds.toFixed(0)} s, seed ${values.seed}: ${failures.length} failures, ` +
      `memory grew by ${growth.toFixed(0)} MB`,
  );
  if (growth > limitGrowthMegabytes) console.error(`Memory grew by more than ${limitGrowthMegabytes} MB`);
  return failures.length > 0 || growth > limitGrowthMegabytes ? 1 : 0;
}

process.exitCode = await main();
