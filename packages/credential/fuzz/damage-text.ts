import type { Dice } from "../../../scripts/fuzz/dice.ts";

const maxInputBytes = 64 * 1024;
const scraps = [
  "{",
  "}",
  "[",
  "]",
  ":",
  ",",
  '"',
  "\\",
  "~",
  "~~",
  ".",
  "..",
  "=",
  "-",
  "_",
  " ",
  "\n",
  "\0",
  "é",
  "\u2028",
  "null",
  "true",
  "1e999",
  "-0",
  "9007199254740993",
  '"_sd"',
  '"..."',
  '"__proto__"',
  "{}",
  "[]",
  '""',
  "A",
  "eyJ",
];
const values: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "x",
  "__proto__",
  "_sd",
  "...",
  [],
  {},
  [[]],
  { "...": "x" },
  { _sd: [] },
  { _sd: ["x", "x"] },
  "x".repeat(3000),
  "\ud800",
  "2026-02-30",
  "https://x.example/%00",
  ["x", ["y"]],
];
const names = [
  "_sd",
  "_sd_alg",
  "...",
  "__proto__",
  "constructor",
  "exp",
  "iat",
  "cnf",
  "vct",
  "status",
  "bits",
  "lst",
  "x",
];

/** Damages JSON as a structure where the text is JSON, and any text as characters. */
export function damageText(seeds: readonly Uint8Array[], dice: Dice): Uint8Array {
  if (seeds.length === 0 || dice.chance(30)) return dice.bytes(dice.below(dice.chance(10) ? 2000 : 64));
  let text = Buffer.from(dice.pick(seeds)).toString("latin1");
  for (let rounds = 1 + dice.below(3); rounds > 0; rounds--) {
    text = (dice.chance(3) ? null : damageJson(text, dice)) ?? damageCharacters(text, seeds, dice);
  }
  return Uint8Array.from(Buffer.from(text, "latin1")).subarray(0, maxInputBytes);
}

function damageCharacters(text: string, seeds: readonly Uint8Array[], dice: Dice): string {
  const at = dice.below(text.length + 1);
  const span = 1 + dice.below(dice.chance(4) ? 64 : 4);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (dice.below(7)) {
    case 0:
      return before + String.fromCharCode(32 + dice.below(95)) + after.slice(1);
    case 1:
      return before + after.slice(span);
    case 2:
      return before + dice.pick(scraps) + after;
    case 3:
      return before + after.slice(0, span).repeat(1 + dice.below(dice.chance(20) ? 2000 : 3)) + after;
    case 4:
      return before;
    case 5: {
      const other = seeds.length === 0 ? text : Buffer.from(dice.pick(seeds)).toString("latin1");
      return before + other.slice(dice.below(other.length));
    }
    default:
      return exchangeParts(text, dice);
  }
}

/** Tildes and dots hold presentations and tokens together. */
function exchangeParts(text: string, dice: Dice): string {
  const separator = dice.pick(["~", ".", ","]);
  const parts = text.split(separator);
  const [a, b] = [dice.below(parts.length), dice.below(parts.length)];
  [parts[a], parts[b]] = [parts[b] ?? "", parts[a] ?? ""];
  if (dice.chance(3)) parts.splice(a, 1);
  if (dice.chance(3)) parts.push(parts[b] ?? "");
  return parts.join(separator);
}

function damageJson(text: string, dice: Dice): string | null {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return null;
  }
  const holder = { root };
  const places: { parent: Record<string, unknown> | unknown[]; key: string | number }[] = [];
  const collect = (value: unknown, parent: Record<string, unknown> | unknown[], key: string | number) => {
    places.push({ parent, key });
    if (Array.isArray(value)) for (const [index, item] of value.entries()) collect(item, value, index);
    else if (typeof value === "object" && value !== null)
      for (const [name, item] of Object.entries(value)) collect(item, value as Record<string, unknown>, name);
  };
  collect(root, holder, "root");
  const { parent, key } = dice.pick(places);
  const other = dice.pick(places);
  const current = (parent as Record<string, unknown>)[key];
  switch (dice.below(5)) {
    case 0:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else delete parent[key];
      break;
    case 1:
      if (Array.isArray(parent)) parent.push(current);
      else parent[dice.pick(names)] = current;
      break;
    case 2:
      (parent as Record<string, unknown>)[key] = structuredClone(
        (other.parent as Record<string, unknown>)[other.key],
      );
      break;
    case 3:
      if (typeof current === "string")
        (parent as Record<string, unknown>)[key] = damageCharacters(current, [], dice);
      else (parent as Record<string, unknown>)[key] = dice.pick(values);
      break;
    default:
      (parent as Record<string, unknown>)[key] = dice.pick(values);
  }
  return JSON.stringify(holder.root) ?? "";
}
