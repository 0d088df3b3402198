import { type MrzFormat, mrzLayouts } from "@assay/emrtd/mrz/mrz-layout";
import { distance, homographyBetween, type Quad } from "./geometry.ts";
import { straighten } from "./grey.ts";
import type { Plane } from "./network.ts";

/** What the person can do, one thing at a time. */
export type Hint = "show_lines" | "closer" | "flatter" | "less_glare" | "more_light" | "hold_still";

/** Pixels a character below which more than one rendered frame in ten is not read. */
const minPitchPixels = 9;
/** Perspective above which the hint is "flatter": how much longer one side of the zone is than the other. */
const maxSlant = 1.35;
/** The share of the zone that is white all through. Paper in good light stays below. */
const maxGlare = 0.08;
const white = 0.985;
/** Mean brightness. Half of it is black, twice an ordinary room. */
const minLight = 0.16;

export function hintFor(
  frame: Plane,
  zone: { readonly quad: Quad; readonly shapes: readonly MrzFormat[] } | null,
): Hint {
  const light = zone === null ? lightOf(frame) : null;
  if (zone === null) return light !== null && light.mean < minLight / 2 ? "more_light" : "show_lines";
  const [a, b, c, d] = zone.quad;
  const { lineLength } = mrzLayouts[zone.shapes[0] ?? "TD3"];
  if (distance(a, b) / lineLength < minPitchPixels) return "closer";
  const [left, right, top, low] = [distance(a, d), distance(b, c), distance(a, b), distance(d, c)];
  if (
    Math.max(left, right) > maxSlant * Math.min(left, right) ||
    Math.max(top, low) > maxSlant * Math.min(top, low)
  )
    return "flatter";
  const seen = zonePicture(frame, zone.quad);
  if (seen === null) return "hold_still";
  const { mean, saturated } = lightOf(seen);
  if (mean < minLight) return "more_light";
  return saturated > maxGlare ? "less_glare" : "hold_still";
}

function zonePicture(frame: Plane, quad: Quad): Plane | null {
  const [width, height] = [64, 12];
  const corners: Quad = [
    { x: 0, y: 0 },
    { x: width, y: 0 },
    { x: width, y: height },
    { x: 0, y: height },
  ];
  const map = homographyBetween(corners, quad);
  return map === null ? null : straighten(frame, map, width, height, { x: 0, y: 0, stepX: 1, stepY: 1 });
}

function lightOf({ data }: Plane): { mean: number; saturated: number } {
  let [sum, bright] = [0, 0];
  for (const value of data) {
    sum += value;
    if (value >= white) bright++;
  }
  return { mean: sum / data.length, saturated: bright / data.length };
}
