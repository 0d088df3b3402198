import { damageBytes, hostileInputs } from "../../../scripts/fuzz/damage.ts";
import type { Dice } from "../../../scripts/fuzz/dice.ts";

const scraps = [
  ...'{ } [ ] : , " \\ ~ ~~ . .. = - _ null true 1e999 -0 9007199254740993 {} [] "" A eyJ'.split(" "),
  ...[" ", "\n", "\0", "é", "\u2028", '"_sd"', '"..."', '"__proto__"'],
].map((text) => Buffer.from(text));
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
const names = "_sd _sd_alg ... __proto__ constructor exp iat cnf vct status bits lst x".split(" ");

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

/** JSON is damaged as a structure, other text between its separators. */
export const damageText = hostileInputs((bytes, dice) => {
  const text = latin1(bytes);
  return Buffer.from(damageJson(text, dice) ?? exchangeParts(text, dice), "latin1");
}, scraps);

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
        (parent as Record<string, unknown>)[key] = latin1(
          damageBytes(Buffer.from(current, "latin1"), scraps, scraps, dice),
        );
      else (parent as Record<string, unknown>)[key] = dice.pick(values);
      break;
    default:
      (parent as Record<string, unknown>)[key] = dice.pick(values);
  }
  return JSON.stringify(holder.root) ?? "";
}
