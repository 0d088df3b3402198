import type { FrameMeasurement } from "./measurement.ts";
import { surroundingsShare } from "./still-surroundings.ts";
import { unexplainedShare } from "./warped-look.ts";

/**
 * How much a turned look shows that the straight one does not, in the surroundings and in the face. Some
 * people have one small value, and some bent pictures one large; the geometric mean is small for bent
 * pictures only. The surroundings, a mean of two shares, count twice.
 */
export function turnChange(straight: ArrayLike<number>, turned: ArrayLike<number>): number | null {
  const [around, within] = [surroundingsShare(straight, turned), unexplainedShare(straight, turned)];
  return around === null || within === null ? null : Math.cbrt(around ** 2 * within);
}

/** The mean of the turned looks in which it was measured; null if there is none. */
export function turnChangeOf(frames: readonly FrameMeasurement[]): number | null {
  const measured = frames.flatMap(({ face }) => (face?.turnChange === undefined ? [] : [face.turnChange]));
  return measured.length === 0 ? null : measured.reduce((sum, share) => sum + share, 0) / measured.length;
}

/**
 * Below it a face is bent (docs/face-error-rates.md). Chosen on half of the people, between the largest bent
 * photograph and the smallest person. Lower: bent pictures pass. Higher: people are refused.
 */
export const minTurnChange = 0.115;

/** Whether the face turned as a bent picture does; false where it could not be measured. */
export function isBent(frames: readonly FrameMeasurement[]): boolean {
  const change = turnChangeOf(frames);
  return change !== null && change < minTurnChange;
}

/**
 * Smallest turn in degrees against the straight look. Lower: noise decides. Higher: most turns do not count.
 */
const minTurn = 10;
/**
 * Largest relative change of size. Lower: hardly any look is left.
 * Higher: coming closer moves the surroundings.
 */
const maxGrowth = 0.15;

/**
 * The straight look to compare a turned one with, nearest in time;
 * null if it is turned too little or is closer.
 */
export function straightLookFor(
  turned: FrameMeasurement,
  straight: readonly FrameMeasurement[],
): FrameMeasurement | null {
  const { face, atMs } = turned;
  if (face === null) return null;
  const fits = straight.filter(
    ({ face: other }) =>
      other !== null &&
      Math.max(Math.abs(face.yaw - other.yaw), Math.abs(face.pitch - other.pitch)) >= minTurn &&
      Math.max(face.size / other.size, other.size / face.size) <= 1 + maxGrowth,
  );
  return fits.reduce<FrameMeasurement | null>(
    (least, next) =>
      least === null || Math.abs(next.atMs - atMs) < Math.abs(least.atMs - atMs) ? next : least,
    null,
  );
}
