import type { ShareFields } from "../sessions/share-contract.ts";

type ConsentChoice =
  | { selected: string[]; declined: string[] }
  | { problem: { kind: "unknown" | "required"; key: string } };

/** What the person chose, in the order in which it was asked; or what is wrong with the choice. */
export function decideConsent(asked: ShareFields, chosen: readonly string[]): ConsentChoice {
  const wanted = new Set(chosen);
  const keys = Object.keys(asked);
  const unknown = chosen.find((key) => !Object.hasOwn(asked, key));
  if (unknown !== undefined) return { problem: { kind: "unknown", key: unknown } };
  const missing = keys.find((key) => asked[key]?.required && !wanted.has(key));
  if (missing !== undefined) return { problem: { kind: "required", key: missing } };
  return {
    selected: keys.filter((key) => wanted.has(key)),
    declined: keys.filter((key) => !wanted.has(key)),
  };
}
