import type { FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";

/**
 * Degrees between the looks to either side, at least; a turn counts from 14. Half: noise decides. Twice: most people do
 * not turn so far to both sides.
 */
const minTurn = 24;

/**
 * How far the brightest part of a face wanders over it when the head turns, in thousandths of the face's height a
 * degree. Light stays where it is, so on a head that turns left it wanders to the right; light that is painted on a
 * mask turns with it. Null where the head was not turned to both sides, or the models do not tell where a face is
 * brightest.
 */
export function highlightDrift(frames: readonly FrameMeasurement[]): number | null {
  const looks = frames.flatMap(({ face }) =>
    face?.highlight === undefined ? [] : [{ yaw: face.yaw, across: face.highlight }],
  );
  if (looks.length === 0) return null;
  const [least, most] = [Math.min(...looks.map(({ yaw }) => yaw)), Math.max(...looks.map(({ yaw }) => yaw))];
  if (!(most - least >= minTurn)) return null;
  // The looks of the outer thirds on either side: a line through all of them would be held by the many straight ones.
  const side = (from: number, to: number) =>
    looks.filter(({ yaw }) => yaw >= from && yaw <= to).map(({ yaw, across }) => [yaw, across] as const);
  const third = (most - least) / 3;
  const [right, left] = [side(least, least + third), side(most - third, most)];
  const middle = (points: readonly (readonly [number, number])[], of: 0 | 1) =>
    median(points.map((point) => point[of]));
  const turned = middle(left, 0) - middle(right, 0);
  return (-1000 * (middle(left, 1) - middle(right, 1))) / turned;
}
