import { readFileSync } from "node:fs";

/** Drawn by `portraits/render-portrait.ts`, which says how; nobody's likeness. */
export type PortraitName = "adult.jpg" | "elder.jpg" | "child.jpg" | "elder.jp2";

const portraits = new Map<PortraitName, Uint8Array>();

export function readPortrait(name: PortraitName): Uint8Array {
  const known = portraits.get(name);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(readFileSync(new URL(`./portraits/${name}`, import.meta.url)));
  portraits.set(name, bytes);
  return bytes;
}
