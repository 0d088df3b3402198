import { livenessLimits } from "./limits.ts";
import type { FrameMeasurement } from "./measurement.ts";
import { median } from "./median.ts";
import { centreOf } from "./movement.ts";

type Point = readonly [x: number, y: number];

/**
 * A look counts as near from this multiple of the straight size; a movement counts from 1.25. At 1.1
 * perspective has hardly changed.
 */
const nearRatio = 1.2;
/** And as far up to this. */
const farRatio = 1.08;
/** Largest turn of such a look in degrees. Lower: too few looks. Higher: a turn passes for perspective. */
const maxTurn = 7;

/**
 * How much the points of a face shift relative to each other when it comes closer, in thousandths of its
 * height. It is the residual of the best affine map of far points onto near ones. A head's nose is nearer to
 * the camera than its ears and grows more; a print or a screen grows as a whole. Null if the face did not
 * come closer, or the models report no points.
 */
export function planeResidual(frames: readonly FrameMeasurement[]): number | null {
  const looks = frames.flatMap(({ face }) =>
    face?.shape === undefined ? [] : [{ ...face, shape: face.shape }],
  );
  const centre = centreOf(looks);
  if (centre === null) return null;
  const straight = looks.filter(
    ({ yaw, pitch }) => Math.abs(yaw - centre.yaw) <= maxTurn && Math.abs(pitch - centre.pitch) <= maxTurn,
  );
  const shapesOf = (fits: (ratio: number) => boolean) =>
    straight.filter(({ size }) => fits(size / centre.size)).map(({ shape, size }) => scaled(shape, 1 / size));
  const far = middleShape(shapesOf((ratio) => ratio <= farRatio && ratio >= 1 / farRatio));
  const near = middleShape(shapesOf((ratio) => ratio >= nearRatio));
  if (far === null || near === null) return null;
  const left = residualOf(far, near);
  return left === null ? null : left * 1000;
}

function scaled(shape: readonly Point[], by: number): readonly Point[] {
  return shape.map(([x, y]) => [x * by, y * by]);
}

/** The median of each point, relative to the mean of all. Null for fewer than two shapes. */
function middleShape(shapes: readonly (readonly Point[])[]): readonly Point[] | null {
  if (shapes.length < livenessLimits.framesToCount) return null;
  const centred = shapes.map((shape) => {
    const [x, y] = meanOf(shape);
    return shape.map((point): Point => [point[0] - x, point[1] - y]);
  });
  return (centred[0] ?? []).map(
    (_, index): Point => [
      median(centred.map((shape) => shape[index]?.[0] ?? 0)),
      median(centred.map((shape) => shape[index]?.[1] ?? 0)),
    ],
  );
}

function meanOf(points: readonly Point[]): Point {
  const sum = points.reduce<Point>(([x, y], point) => [x + point[0], y + point[1]], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}

/** Root mean square error of the best affine map of `from` onto `to`. Both are relative to their mean. */
function residualOf(from: readonly Point[], to: readonly Point[]): number | null {
  let [xx, xy, yy] = [0, 0, 0];
  const cross = [
    [0, 0],
    [0, 0],
  ] as [[number, number], [number, number]];
  for (const [index, [x, y]] of from.entries()) {
    const [u, v] = to[index] ?? [0, 0];
    xx += x * x;
    xy += x * y;
    yy += y * y;
    cross[0] = [cross[0][0] + x * u, cross[0][1] + y * u];
    cross[1] = [cross[1][0] + x * v, cross[1][1] + y * v];
  }
  const det = xx * yy - xy * xy;
  if (!(det > 0)) return null;
  const rows = cross.map(([a, b]): Point => [(a * yy - b * xy) / det, (b * xx - a * xy) / det]);
  const sum = from.reduce((total, [x, y], index) => {
    const [u, v] = to[index] ?? [0, 0];
    const [[a, b] = [0, 0], [c, d] = [0, 0]] = rows;
    return total + (a * x + b * y - u) ** 2 + (c * x + d * y - v) ** 2;
  }, 0);
  return Math.sqrt(sum / from.length);
}
