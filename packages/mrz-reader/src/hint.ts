import { distance, homographyBetween, type Quad } from "./geometry.ts";
import { straighten } from "./grey.ts";
import type { Plane } from "./network.ts";
import { type ZoneShape, zoneSizes } from "./zone-shape.ts";

/** What the person can do, one thing at a time. */
export type Hint = "show_lines" | "closer" | "flatter" | "less_glare" | "more_light" | "hold_still";

/** Pixels for one character below which the evaluation shows more than one frame in ten unread. Half: nobody is told. Twice: people are sent closer than their camera focuses. */
const leastPitchPixels = 9;
/** How much longer one side of the zone may be than the other. By hand. Half of the surplus: told while all is well. Twice: never told. */
const mostSlant = 1.35;
/** The share of the zone that is white all through. Paper in good light stays below. */
const mostGlare = 0.08;
const white = 0.985;
/** Mean brightness. By hand, from pictures at night: half is black, twice is an ordinary room. */
const leastLight = 0.16;

export function hintFor(
  frame: Plane,
  zone: { readonly quad: Quad; readonly shapes: readonly ZoneShape[] } | null,
): Hint {
  const light = zone === null ? lightOf(frame) : null;
  if (zone === null) return light !== null && light.mean < leastLight / 2 ? "more_light" : "show_lines";
  const [a, b, c, d] = zone.quad;
  const { characters } = zoneSizes[zone.shapes[0] ?? "TD3"];
  if (distance(a, b) / characters < leastPitchPixels) return "closer";
  const [left, right, top, low] = [distance(a, d), distance(b, c), distance(a, b), distance(d, c)];
  if (
    Math.max(left, right) > mostSlant * Math.min(left, right) ||
    Math.max(top, low) > mostSlant * Math.min(top, low)
  )
    return "flatter";
  const seen = zonePicture(frame, zone.quad);
  if (seen === null) return "hold_still";
  const { mean, saturated } = lightOf(seen);
  if (mean < leastLight) return "more_light";
  return saturated > mostGlare ? "less_glare" : "hold_still";
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
