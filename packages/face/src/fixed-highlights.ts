import type { FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";

/**
 * Smallest difference in degrees between the looks to either side; a turn counts from 14. Lower: noise
 * decides. Higher: most people do not turn that far.
 */
const minTurn = 24;

/**
 * How far the brightest part of a face moves when the head turns, in thousandths of the face's height per
 * degree. Real light stays in place, so on a head that turns left it moves right; light painted on a mask
 * turns with it. Null if the head was not turned to both sides, or the models do not report the brightest
 * part.
 */
export function highlightDrift(frames: readonly FrameMeasurement[]): number | null {
  const looks = frames.flatMap(({ face }) =>
    face?.highlight === undefined ? [] : [{ yaw: face.yaw, across: face.highlight }],
  );
  if (looks.length === 0) return null;
  const [least, most] = [Math.min(...looks.map(({ yaw }) => yaw)), Math.max(...looks.map(({ yaw }) => yaw))];
  if (!(most - least >= minTurn)) return null;
  // The looks of the outer thirds on either side: the many straight looks would dominate a line through all.
  const side = (from: number, to: number) =>
    looks.filter(({ yaw }) => yaw >= from && yaw <= to).map(({ yaw, across }) => [yaw, across] as const);
  const third = (most - least) / 3;
  const [right, left] = [side(least, least + third), side(most - third, most)];
  const middle = (points: readonly (readonly [number, number])[], of: 0 | 1) =>
    median(points.map((point) => point[of]));
  const turned = middle(left, 0) - middle(right, 0);
  return (-1000 * (middle(left, 1) - middle(right, 1))) / turned;
}
