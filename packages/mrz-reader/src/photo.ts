import type { MrzKeyFields } from "@assay/emrtd/mrz/mrz-key";
import { addReading, nothingRead } from "./agreement.ts";
import { shrink, sizeFor } from "./grey.ts";
import type { MrzReader } from "./mrz-reader.ts";
import type { Plane } from "./network.ts";

/** Sizes near a camera's picture first, then larger ones: the document is often a small part of a photo. */
const sides = [1280, 1120, 980, 860, 1800, 2400] as const;
/**
 * Largest ratio of one size to the one before.
 * Closer to 1 the second look sees the same pixels and agrees with itself.
 */
const maxStep = 0.88;

/** The lengths of the longer side at which to read a photo: each size gives different pixels. */
export function photoSides(longSide: number): readonly number[] {
  const wanted = sides.filter((side) => side <= longSide);
  const own = wanted.some((side) => side > longSide * maxStep) || longSide > 2400 ? [] : [longSide];
  const all = [...wanted, ...own];
  return all.length > 4 ? all : [0, 1, 2, 3, 4].map((n) => Math.round(longSide * maxStep ** n));
}

/** Sizes of a photo that must say the same: one alone may say what check digits let pass by chance. */
export const sizesNeeded = 2;

/** The key in a photo, if two sizes of it give the same. */
export function readPhoto(reader: MrzReader, photo: Plane, at: Date): MrzKeyFields | "visa" | null {
  let agreement = nothingRead;
  let isVisa = false;
  for (const side of photoSides(Math.max(photo.width, photo.height))) {
    const { width, height } = sizeFor(photo, side, 1);
    const { reading } = reader.look(shrink(photo, width, height), at);
    isVisa ||= reading.kind === "visa";
    const added = addReading(agreement, reading, sizesNeeded);
    if (added.accepted !== null) return added.accepted;
    agreement = added.agreement;
  }
  return isVisa ? "visa" : null;
}
