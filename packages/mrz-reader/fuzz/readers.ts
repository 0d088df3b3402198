import { readFileSync } from "node:fs";
import type { Dice } from "../../../scripts/fuzz/dice.ts";
import type { FuzzTarget } from "../../../scripts/fuzz/fuzz-target.ts";
import { MrzReader } from "../src/mrz-reader.ts";
import { NetworkFileError, readNetworks } from "../src/network-plan.ts";

const file = (name: string) => readFileSync(new URL(`../networks/${name}`, import.meta.url));
const maxEngineBytes = 64 * 1024 * 1024;
const picture = { width: 64, height: 48, data: new Float32Array(64 * 48).map((_, n) => (n % 7) / 7) };
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
  0.5,
  [],
  {},
  [1, 1],
  [16, 16],
  "ds",
  "conv",
  "head",
];

/** A plan and its weights as one input: the length of the plan in four bytes, the plan, the weights. */
function join(plan: string, weights: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(plan));
  return Buffer.concat([length, Buffer.from(plan), weights]);
}

function split(bytes: Uint8Array): { plan: unknown; weights: Uint8Array } {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 4 + whole.readUInt32BE();
  return { plan: JSON.parse(whole.toString("utf8", 4, end)), weights: bytes.subarray(end) };
}

/** Changes one thing somewhere inside: a value, a missing entry, one twice. */
function bend(plan: unknown, dice: Dice): void {
  let at = plan;
  while (typeof at === "object" && at !== null) {
    const names = Object.keys(at);
    const name = names[dice.below(names.length)];
    if (name === undefined) return;
    const inside = at as Record<string, unknown>;
    const next = inside[name];
    if (typeof next === "object" && next !== null && !dice.chance(8)) {
      at = next;
      continue;
    }
    if (Array.isArray(at) && dice.chance(3)) at.splice(Number(name), dice.below(2), structuredClone(next));
    else if (dice.chance(6)) delete inside[name];
    else inside[name] = structuredClone(dice.pick(values));
    return;
  }
}

function damageWeights(weights: Uint8Array, dice: Dice): Uint8Array {
  const copy = weights.slice();
  for (let n = dice.below(4); n >= 0; n--)
    copy.fill(dice.below(256), dice.below(copy.length), dice.below(copy.length));
  if (!dice.chance(3)) return copy;
  const other = new Uint8Array(dice.below(weights.length + 4096));
  other.set(copy.subarray(0, other.length));
  return other;
}

function damage(seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  const { plan, weights } = split(dice.pick(seeds));
  for (let n = dice.below(4); n > 0; n--) bend(plan, dice);
  return join(JSON.stringify(plan), dice.chance(2) ? weights : damageWeights(weights, dice));
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

/**
 * Damaged or invented plans and weights. Reading them gives networks or the reader's error. Accepted networks
 * then run on a picture, which may fail but needs bounded time and memory.
 */
function read(bytes: Uint8Array): void {
  const { plan, weights } = split(bytes);
  const usedBytes = lookWith(readNetworks(plan, weights));
  if (usedBytes > maxEngineBytes) throw new Error(`took ${usedBytes} bytes`);
}

export const mrzTarget: FuzzTarget = {
  readers: [
    {
      name: "network files",
      read,
      seeds: () => [join(file("mrz-reader.json").toString(), file("mrz-reader.bin"))],
      damage,
    },
  ],
  refusal: NetworkFileError,
  canaries: /(?!)/,
  maxMilliseconds: 2000,
  maxResidentMegabytes: 512,
  // Each has a quarter of a megabyte to go through.
  oneIn: 500,
};
