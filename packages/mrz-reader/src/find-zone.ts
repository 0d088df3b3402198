import { type MrzFormat, mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import {
  distance,
  type Homography,
  homographyBetween,
  type Point,
  project,
  type Quad,
  quadOf,
  turnedQuad,
} from "./geometry.ts";
import { shrink, sizeFor, standardised, straighten } from "./grey.ts";
import type { Network, Output, Plane } from "./network.ts";

/** Parameters of the training; training/pipeline.py has the same numbers. */
const coarseSide = 256;
const middleSide = 640;
const crop = { width: 320, height: 80, left: 40, top: 20 } as const;
/** The maps of corners are a quarter of the picture's size. */
const cellPixels = 4;
const contrastFloor = 0.05;
/** In nats: one in twenty. A second answer within it is tried too, where the first cannot be read. */
const doubt = 3;

export type FoundZone = {
  readonly quad: Quad;
  /** The likeliest first, and only those that are about as likely. */
  readonly shapes: readonly MrzFormat[];
  readonly isTurnSure: boolean;
};

/** A rough look at the whole picture, then a closer one at that part of it. */
export function findZone(coarse: Network, refine: Network, frame: Plane): FoundZone | null {
  const size = sizeFor(frame, coarseSide, 16);
  const seen = coarse.run(standardised(shrink(frame, size.width, size.height), contrastFloor));
  const [across, down] = [frame.width / seen.width, frame.height / seen.height];
  const rough =
    (seen.head[0] ?? -1) <= 0
      ? null
      : quadOf(cornersOf(seen).map(({ x, y }) => ({ x: x * across, y: y * down })));
  let middle: Plane | null = null;
  const look: Look = (from) => {
    if (middle === null) {
      const { width, height } = sizeFor(frame, middleSide, 1);
      middle = shrink(frame, width, height);
    }
    return lookCloser(refine, frame, middle, from);
  };
  return rough === null ? null : findFrom(look, rough);
}

type Look = (from: Quad) => (FoundZone & { readonly isTurned: boolean }) | null;

/**
 * A corner on a wrong line gives an impossible quad; the search then restarts from the corrected position.
 */
export function findFrom(look: Look, rough: Quad): FoundZone | null {
  const found = lookUntilStill(look, rough);
  if (found === null || isConsistent(found)) return found;
  for (const quad of mendedQuads(found)) {
    const again = lookUntilStill(look, quad);
    if (again !== null && isConsistent(again)) return again;
  }
  return found;
}

/** Of ICAO 9303, in millimetres. */
const [linePitch, characterPitch] = [6.1, 2.54];
/**
 * Largest ratio of the zone's two sides, and its height relative to its shape. A missed line of two changes
 * the height by half; readable tilted pages stay within. Narrower: tilted pages are searched twice. Wider: a
 * missed line passes.
 */
const maxUneven = 1.6;
const [minTall, maxTall] = [0.68, 1.35];

function sidesOf({ quad: [a, b, c, d], shapes: [shape = "TD3"] }: Pick<FoundZone, "quad" | "shapes">) {
  const { lineCount, lineLength } = mrzLayouts[shape];
  const wide = (distance(a, b) + distance(d, c)) / 2;
  const tall = (wide * lineCount * linePitch) / (lineLength * characterPitch);
  return { left: distance(a, d), right: distance(b, c), tall };
}

/** Whether the sides of a zone are about equally high, and as high as its shape says. */
function isConsistent(zone: Pick<FoundZone, "quad" | "shapes">): boolean {
  const { left, right, tall } = sidesOf(zone);
  const high = (left + right) / 2 / tall;
  return Math.max(left, right) < maxUneven * Math.min(left, right) && high > minTall && high < maxTall;
}

/**
 * The zone if the first line was wrong, and if the last was. Keeps the other edge and the direction of the
 * side whose height fits better.
 */
function mendedQuads(zone: Pick<FoundZone, "quad" | "shapes">): readonly Quad[] {
  const [a, b, c, d] = zone.quad;
  const { left, right, tall } = sidesOf(zone);
  if (!(left > 0 && right > 0 && tall > 0)) return [];
  const isLeftOff = Math.abs(Math.log(left / tall)) > Math.abs(Math.log(right / tall));
  const [top, low, high] = isLeftOff ? [b, c, right] : [a, d, left];
  const up = { x: ((top.x - low.x) / high) * tall, y: ((top.y - low.y) / high) * tall };
  const above = ({ x, y }: Point): Point => ({ x: x + up.x, y: y + up.y });
  const below = ({ x, y }: Point): Point => ({ x: x - up.x, y: y - up.y });
  return [
    [above(d), above(c), c, d],
    [a, b, below(b), below(a)],
  ];
}

/**
 * Search again from the found zone, because the first look may have been far off. Repeat if a corner moved by
 * this share of the zone's width. Larger: poorly located zones are read askew.
 */
const maxMove = 0.015;

/** Null where a look finds no zone. */
export function lookUntilStill<Z extends Pick<FoundZone, "quad">>(
  look: (from: Quad) => (Z & { readonly isTurned: boolean }) | null,
  rough: Quad,
): Z | null {
  const first = look(rough);
  const second = first === null ? null : look(first.quad);
  if (first === null || second === null) return null;
  // Turned round is not moved.
  const before = second.isTurned ? turnedQuad(first.quad) : first.quad;
  const [left, right] = second.quad;
  const most = maxMove * Math.hypot(right.x - left.x, right.y - left.y);
  const isStill = second.quad.every(({ x, y }, corner) => {
    const old = before[corner];
    return old !== undefined && Math.hypot(x - old.x, y - old.y) <= most;
  });
  return isStill ? second : look(second.quad);
}

const cropQuad: Quad = [
  { x: crop.left, y: crop.top },
  { x: crop.width - crop.left, y: crop.top },
  { x: crop.width - crop.left, y: crop.height - crop.top },
  { x: crop.left, y: crop.height - crop.top },
];

function lookCloser(refine: Network, frame: Plane, middle: Plane, rough: Quad): ReturnType<Look> {
  const [across, down] = [middle.width / frame.width, middle.height / frame.height];
  const scaled = quadOf(rough.map(({ x, y }) => ({ x: x * across, y: y * down })));
  const toMiddle: Homography | null = scaled === null ? null : homographyBetween(cropQuad, scaled);
  if (toMiddle === null) return null;
  const picture = straighten(middle, toMiddle, crop.width, crop.height, { x: 0, y: 0, stepX: 1, stepY: 1 });
  const seen = refine.run(standardised(picture, contrastFloor));
  const [td1 = 0, td2 = 0, td3 = 0, none = 0, upsideDown = 0] = seen.head;
  if (none >= Math.max(td1, td2, td3)) return null;
  const corners = cornersOf(seen);
  const exact = quadOf(
    corners.map((at) => {
      const { x, y } = project(toMiddle, { x: at.x * cellPixels, y: at.y * cellPixels });
      return { x: x / across, y: y / down };
    }),
  );
  if (exact === null || !exact.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))) return null;
  const likelihood = { TD1: td1, TD2: td2, TD3: td3 };
  return {
    quad: upsideDown > 0 ? turnedQuad(exact) : exact,
    shapes: (["TD1", "TD2", "TD3"] as const)
      .filter((shape) => Math.max(td1, td2, td3) - likelihood[shape] < doubt)
      .sort((a, b) => likelihood[b] - likelihood[a]),
    isTurnSure: Math.abs(upsideDown) > doubt,
    isTurned: upsideDown > 0,
  };
}

/** In cells: the centroid of the five by five cells around each map's peak, weighted by likelihood. */
function cornersOf({ maps, height, width, stride }: Output): readonly Point[] {
  return [0, 1, 2, 3].map((channel) => {
    let peak = 0;
    for (let at = 1; at < height * width; at++)
      if ((maps[at * stride + channel] ?? 0) > (maps[peak * stride + channel] ?? 0)) peak = at;
    const [peakX, peakY] = [peak % width, Math.floor(peak / width)];
    const most = maps[peak * stride + channel] ?? 0;
    let [mass, x, y] = [0, 0, 0];
    for (let atY = Math.max(0, peakY - 2); atY <= Math.min(height - 1, peakY + 2); atY++)
      for (let atX = Math.max(0, peakX - 2); atX <= Math.min(width - 1, peakX + 2); atX++) {
        const weight = Math.exp((maps[(atY * width + atX) * stride + channel] ?? 0) - most);
        mass += weight;
        x += weight * atX;
        y += weight * atY;
      }
    return { x: x / mass + 0.5, y: y / mass + 0.5 };
  });
}
