import { readFileSync } from "node:fs";
import { MrzReader } from "../src/mrz-reader.ts";
import { NetworkFileError, readNetworks } from "../src/network-plan.ts";

export type FileFuzz = {
  inputs: number;
  accepted: number;
  slowestMs: number;
  readonly failures: string[];
};

/** A small generator with a seed (mulberry32), so that a failure can be made again. */
function diceOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const file = (name: string) => readFileSync(new URL(`../networks/${name}`, import.meta.url));
const values: readonly unknown[] = [
  null,
  true,
  "",
  "fine",
  -1,
  0,
  1,
  2,
  3,
  7,
  8,
  16,
  17,
  64,
  512,
  513,
  1e9,
  2 ** 53,
  Number.NaN,
  0.5,
  [],
  {},
  [1, 1],
  [16, 16],
  "ds",
  "conv",
  "head",
];

/** Changes one thing somewhere inside: a value, a missing entry, one twice. */
function bend(plan: unknown, dice: (below: number) => number): void {
  let at = plan;
  while (typeof at === "object" && at !== null) {
    const names = Object.keys(at);
    const name = names[dice(Math.max(1, names.length))];
    if (name === undefined) return;
    const inside = at as Record<string, unknown>;
    const next = inside[name];
    if (typeof next === "object" && next !== null && dice(8) > 0) {
      at = next;
      continue;
    }
    if (Array.isArray(at) && dice(3) === 0) at.splice(Number(name), dice(2), structuredClone(next));
    else if (dice(6) === 0) delete inside[name];
    else inside[name] = structuredClone(values[dice(values.length)]);
    return;
  }
}

function damage(bytes: Uint8Array, dice: (below: number) => number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (let n = dice(4); n >= 0; n--) copy.fill(dice(256), dice(copy.length), dice(copy.length));
  if (dice(3) > 0) return copy;
  const length = dice(bytes.length + 4096);
  const other = new Uint8Array(length);
  other.set(copy.subarray(0, length));
  return other;
}

/**
 * Plans and weights that somebody broke or made up. Reading them ends with networks or with the reader's own error;
 * what was accepted looks at a picture, which may fail, as a worker that fails does, but neither takes long nor takes
 * more memory than the engine may have.
 */
export function fuzzFiles(options: { inputs: number; seed: number; limitMs: number }): FileFuzz {
  const plan = file("mrz-reader.json").toString();
  const weights = new Uint8Array(file("mrz-reader.bin"));
  const result: FileFuzz = { inputs: 0, accepted: 0, slowestMs: 0, failures: [] };
  for (let index = 0; index < options.inputs && result.failures.length < 20; index++) {
    const dice = diceOf(Math.imul(options.seed, 1_000_003) + index);
    const bent: unknown = JSON.parse(plan);
    for (let n = dice(4); n > 0; n--) bend(bent, dice);
    const bytes = dice(2) === 0 ? weights : damage(weights, dice);
    const startedAt = performance.now();
    const problem = judge(bent, bytes, result);
    const ms = performance.now() - startedAt;
    result.inputs++;
    result.slowestMs = Math.max(result.slowestMs, ms);
    if (problem !== null) result.failures.push(`input ${index}: ${problem}`);
    else if (ms > options.limitMs) result.failures.push(`input ${index}: took ${ms.toFixed(0)} ms`);
  }
  return result;
}

const maxEngineBytes = 64 * 1024 * 1024;
const picture = { width: 64, height: 48, data: new Float32Array(64 * 48).map((_, n) => (n % 7) / 7) };

function judge(plan: unknown, bytes: Uint8Array, result: FileFuzz): string | null {
  const before = bytes.length === 0 ? 0 : bytes[bytes.length - 1];
  try {
    const networks = readNetworks(plan, bytes);
    result.accepted++;
    const bytesUsed = lookWith(networks);
    if (bytesUsed > maxEngineBytes) return `took ${bytesUsed} bytes`;
  } catch (error) {
    if (!(error instanceof NetworkFileError))
      return `threw ${error instanceof Error ? error.stack : String(error)}`;
  }
  return before === (bytes.length === 0 ? 0 : bytes[bytes.length - 1]) ? null : "changed its input";
}

function lookWith(networks: ReturnType<typeof readNetworks>): number {
  try {
    const reader = new MrzReader(networks);
    reader.look(picture, new Date(0));
    return reader.memoryBytes;
  } catch {
    // A plan of the right form whose networks do not fit together; the page then says that the reader failed.
    return 0;
  }
}
