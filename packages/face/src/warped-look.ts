import { faceBlocks, surroundingsPixels } from "./face-square.ts";

/**
 * Half a block's side, in pixels of the square. Smaller: a block fits anywhere. Larger: a bend is not affine.
 */
const blockRadius = 4;
/**
 * How far a part of the face moves in a turn, in pixels of the square: a quarter of its height. Smaller: the
 * nose of a bent picture is not found.
 */
const maxTurnShift = 8;
/** Steps of the refinement. Fewer: bent blocks fit badly. More: no change. */
const maxSteps = 8;
/** How far one step may stretch or shear a block, so that all of them do by half. */
const maxStretchOfStep = 0.5 / maxSteps;
/** Brightness, from 0 to 255, whose changes within a block are noise. */
const minContrast = 1;

const side = 2 * blockRadius + 1;
const size = side * side;

/**
 * The placement of a straight look's block in the turned look:
 * moved, then stretched and sheared around its middle.
 */
type Placement = {
  readonly x: number;
  readonly y: number;
  readonly rightByRight: number;
  readonly rightByDown: number;
  readonly downByRight: number;
  readonly downByDown: number;
};
const unmoved = { rightByRight: 0, rightByDown: 0, downByRight: 0, downByDown: 0 } as const;

/** A block without its mean, and the sum of its squares. */
type Block = { readonly light: Float64Array; readonly energy: number };

/**
 * How much of a turned face cannot be made from the straight one by moving, stretching and shearing blocks,
 * relative to its contrast. A program that bends a photograph only moves its pixels. A head shows hidden
 * parts, hides visible ones, and is lit differently. Squares as for `surroundingsShare`. Null if too little
 * of the face is visible.
 */
export function unexplainedShare(straight: ArrayLike<number>, turned: ArrayLike<number>): number | null {
  let [energy, left] = [0, 0];
  for (const { x, y } of faceBlocks) {
    const block = blockAt(straight, { x, y, ...unmoved });
    if (block === null || block.energy < minContrast * size) continue;
    const fit = bestFit(block, turned, x, y);
    if (fit === null) continue;
    energy += block.energy;
    left += block.energy * (1 - fit ** 2);
  }
  return energy === 0 ? null : left / energy;
}

/** The greatest correlation of a block with any place of the turned look near its own. */
function bestFit(block: Block, turned: ArrayLike<number>, x: number, y: number): number | null {
  let best: { fit: number; placement: Placement } | null = null;
  for (let down = -maxTurnShift; down <= maxTurnShift; down++)
    for (let right = -maxTurnShift; right <= maxTurnShift; right++) {
      const fit = fitAtPixel(block, turned, x + right, y + down);
      if (fit !== null && (best === null || fit > best.fit))
        best = { fit, placement: { x: x + right, y: y + down, ...unmoved } };
    }
  if (best === null) return null;
  let { fit, placement } = best;
  let there = blockAt(turned, placement);
  for (let step = 0; step < maxSteps && there !== null; step++) {
    placement = refined(block, there, turned, placement);
    there = blockAt(turned, placement);
    if (there !== null) fit = Math.max(fit, correlationOf(block, there));
  }
  return fit;
}

/** Like `correlationOf`, for a block moved by whole pixels. No turn moves one out of the square. */
function fitAtPixel(
  { light, energy }: Block,
  turned: ArrayLike<number>,
  x: number,
  y: number,
): number | null {
  const [left, top] = [x - blockRadius, y - blockRadius];
  let [sum, squares, product] = [0, 0, 0];
  for (let row = 0; row < side; row++)
    for (let column = 0; column < side; column++) {
      const value = turned[(top + row) * surroundingsPixels + left + column] ?? 0;
      sum += value;
      squares += value * value;
      product += value * (light[row * side + column] ?? 0);
    }
  const other = squares - (sum * sum) / size;
  // Asked this way round, a place outside of the picture, which is not a number, is none.
  return other > 0 ? product / Math.sqrt(energy * other) : null;
}

function correlationOf(one: Block, other: Block): number {
  let product = 0;
  for (let at = 0; at < size; at++) product += (one.light[at] ?? 0) * (other.light[at] ?? 0);
  return product / Math.sqrt(one.energy * other.energy);
}

/** Null where a part of it is outside of the picture, or all of it is equally bright. */
function blockAt(square: ArrayLike<number>, placement: Placement): Block | null {
  const light = new Float64Array(size);
  let [sum, energy] = [0, 0];
  for (let at = 0; at < size; at++) {
    const value = lightAt(square, columnAt(placement, at), rowAt(placement, at));
    light[at] = value;
    sum += value;
  }
  for (let at = 0; at < size; at++) {
    const value = (light[at] ?? 0) - sum / size;
    light[at] = value;
    energy += value * value;
  }
  // Asked this way round, an energy that is not a number is none.
  return energy > 0 ? { light, energy } : null;
}

const rightOf = (at: number) => (at % side) - blockRadius;
const downOf = (at: number) => Math.floor(at / side) - blockRadius;

function columnAt({ x, rightByRight, rightByDown }: Placement, at: number): number {
  return x + rightOf(at) + rightByRight * rightOf(at) + rightByDown * downOf(at);
}

function rowAt({ y, downByRight, downByDown }: Placement, at: number): number {
  return y + downOf(at) + downByRight * rightOf(at) + downByDown * downOf(at);
}

/** Between the pixels; not a number outside. */
function lightAt(square: ArrayLike<number>, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < 0 || top < 0 || left >= surroundingsPixels - 1 || top >= surroundingsPixels - 1)
    return Number.NaN;
  const [u, v, at] = [x - left, y - top, top * surroundingsPixels + left];
  const upper = (square[at] ?? 0) * (1 - u) + (square[at + 1] ?? 0) * u;
  const below = at + surroundingsPixels;
  return upper * (1 - v) + ((square[below] ?? 0) * (1 - u) + (square[below + 1] ?? 0) * u) * v;
}

/** One step of Gauss and Newton towards the placement in which the turned look is most like the block. */
function refined(block: Block, there: Block, turned: ArrayLike<number>, placement: Placement): Placement {
  const gain = (correlationOf(block, there) * Math.sqrt(block.energy)) / Math.sqrt(there.energy);
  const rows = Array.from({ length: 6 }, () => new Float64Array(7));
  for (let at = 0; at < size; at++) {
    const [x, y, right, down] = [columnAt(placement, at), rowAt(placement, at), rightOf(at), downOf(at)];
    const across = gain * (lightAt(turned, x + 0.5, y) - lightAt(turned, x - 0.5, y));
    const along = gain * (lightAt(turned, x, y + 0.5) - lightAt(turned, x, y - 0.5));
    if (Number.isNaN(across + along)) continue;
    const rest = (block.light[at] ?? 0) - gain * (there.light[at] ?? 0);
    const terms = [across, along, across * right, across * down, along * right, along * down, rest];
    for (const [index, row] of rows.entries()) {
      const term = terms[index] ?? 0;
      for (let column = 0; column < 7; column++)
        row[column] = (row[column] ?? 0) + term * (terms[column] ?? 0);
    }
  }
  const [right = 0, down = 0, ...shape] = solved(rows);
  const [rightByRight = 0, rightByDown = 0, downByRight = 0, downByDown = 0] = shape;
  return {
    x: placement.x + within(right, 1),
    y: placement.y + within(down, 1),
    rightByRight: placement.rightByRight + within(rightByRight, maxStretchOfStep),
    rightByDown: placement.rightByDown + within(rightByDown, maxStretchOfStep),
    downByRight: placement.downByRight + within(downByRight, maxStretchOfStep),
    downByDown: placement.downByDown + within(downByDown, maxStretchOfStep),
  };
}

const within = (value: number, most: number) => Math.min(Math.max(value, -most), most);

/**
 * Six equations, slightly damped, because a block without structure in one direction says nothing about it.
 */
function solved(rows: readonly Float64Array[]): readonly number[] {
  for (const [index, row] of rows.entries()) row[index] = (row[index] ?? 0) * 1.01 + 1e-3;
  for (const [index, row] of rows.entries()) {
    const pivot = row[index] ?? 1;
    for (let column = 0; column < 7; column++) row[column] = (row[column] ?? 0) / pivot;
    for (const other of rows) {
      const factor = other[index] ?? 0;
      if (other === row) continue;
      for (let column = 0; column < 7; column++)
        other[column] = (other[column] ?? 0) - factor * (row[column] ?? 0);
    }
  }
  return rows.map((row) => row[6] ?? 0);
}
