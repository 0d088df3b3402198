import type { Box } from "./measurement.ts";

/** The training format of the tiny detector (a small YOLO, from face-api). */
export const detectorInputPixels = 224;
/** Width and height of the boxes that it starts from (its anchors), in cells. */
const anchors = [
  [1.603231, 2.094468],
  [6.041143, 7.080126],
  [2.882459, 3.518061],
  [4.266906, 5.178857],
  [9.041765, 10.66308],
] as const;
const valuesPerAnchor = 5;

// The next three were set by hand. Page and service use the same numbers, so that both see the same faces.

/**
 * From 0 to 1. Lower: objects in the room count as second faces. Higher: turned faces are lost (`no_face`).
 */
const detectorLeastScore = 0.4;
/** Lower: one of two close faces is dropped. Higher: one face counts several times (`several_faces`). */
const maxOverlap = 0.4;
/**
 * Share of the largest face's width. Lower: a person further back counts as a second face. Higher: a second
 * person counts only when nearly as close.
 */
export const rivalSizeShare = 0.4;

type Found = Box & { readonly score: number };

const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));

/** The faces in what the detector answered about a square picture of this side, in its pixels. */
export function decodeFaces(values: Float32Array, side: number): readonly Box[] {
  const cells = Math.round(Math.sqrt(values.length / (anchors.length * valuesPerAnchor)));
  const found: Found[] = [];
  for (let cell = 0; cell < cells * cells; cell++)
    for (const [index, [anchorWidth, anchorHeight]] of anchors.entries()) {
      const from = (cell * anchors.length + index) * valuesPerAnchor;
      const [x = 0, y = 0, w = 0, h = 0, s = 0] = values.subarray(from, from + valuesPerAnchor);
      const score = sigmoid(s);
      if (score < detectorLeastScore) continue;
      const width = (Math.exp(w) * anchorWidth * side) / cells;
      const height = (Math.exp(h) * anchorHeight * side) / cells;
      found.push({
        x: (((cell % cells) + sigmoid(x)) * side) / cells - width / 2,
        y: ((Math.floor(cell / cells) + sigmoid(y)) * side) / cells - height / 2,
        width,
        height,
        score,
      });
    }
  return withoutRepeats(found);
}

/** Keeps only the most certain box around each face (non-maximum suppression). */
function withoutRepeats(found: readonly Found[]): Box[] {
  const kept: Found[] = [];
  for (const box of [...found].sort((a, b) => b.score - a.score))
    if (kept.every((other) => overlapOf(box, other) <= maxOverlap)) kept.push(box);
  return kept;
}

/** The overlap of two boxes, relative to their union (intersection over union). */
function overlapOf(a: Box, b: Box): number {
  const across = Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x));
  const along = Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));
  const both = across * along;
  return both / (a.width * a.height + b.width * b.height - both);
}

/**
 * Largest first. Faces in the background are smaller; only one of similar size could take the person's place.
 */
export function withoutBackground(found: readonly Box[]): readonly Box[] {
  const largestFirst = [...found].sort((a, b) => b.width * b.height - a.width * a.height);
  const least = rivalSizeShare * (largestFirst[0]?.width ?? 0);
  return largestFirst.filter(({ width }) => width >= least);
}
