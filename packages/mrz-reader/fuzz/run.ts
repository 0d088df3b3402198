// Feeds hostile plans and weights to the reader of the printed lines, and fails when reading them throws anything but
// its own error, takes too long or takes too much memory.
import { parseArgs } from "node:util";
import { fuzzFiles } from "./fuzz-files.ts";

/** A share of what the readers of the chip get, because each of these has a quarter of a megabyte to go through. */
const share = 500;

const { values } = parseArgs({
  options: { inputs: { type: "string", default: "1000000" }, seed: { type: "string", default: "1" } },
});
const inputs = Math.ceil(Number(values.inputs) / share);
const seed = Number(values.seed);
if (!Number.isSafeInteger(inputs) || inputs < 1 || !Number.isSafeInteger(seed))
  throw new Error("--inputs and --seed must be whole numbers from 1");
const { accepted, slowestMs, failures } = fuzzFiles({ inputs, seed, limitMs: 2000 });
for (const failure of failures) console.error(failure);
console.log(
  `mrz-reader files ${inputs} inputs, ${accepted} accepted, slowest ${slowestMs.toFixed(0)} ms: ${failures.length} failures`,
);
process.exitCode = failures.length > 0 ? 1 : 0;
