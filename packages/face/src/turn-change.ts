import type { FrameMeasurement } from "./measurement.ts";
import { surroundingsShare } from "./still-surroundings.ts";
import { unexplainedShare } from "./warped-look.ts";

/**
 * How much a turned look shows that the straight one does not: in its surroundings, and in the face itself. Either alone
 * is small for some people, and for some bent pictures not small; their geometric mean is small for bent pictures only.
 */
export function turnChange(straight: ArrayLike<number>, turned: ArrayLike<number>): number | null {
  const [around, within] = [surroundingsShare(straight, turned), unexplainedShare(straight, turned)];
  return around === null || within === null ? null : Math.sqrt(around * within);
}

/** Of the turned looks in which it was measured, the mean; null where none was. */
export function turnChangeOf(frames: readonly FrameMeasurement[]): number | null {
  const measured = frames.flatMap(({ face }) => (face?.turnChange === undefined ? [] : [face.turnChange]));
  return measured.length === 0 ? null : measured.reduce((sum, share) => sum + share, 0) / measured.length;
}

/**
 * Under it a face is bent (docs/face-error-rates.md): chosen on half of the people, between the greatest bent photograph and the
 * least person. Half: most bent pictures pass. Twice: people are refused.
 */
export const minTurnChange = 0.115;

/** Whether the face turned as a bent picture does; false where it could not be measured. */
export function isBent(frames: readonly FrameMeasurement[]): boolean {
  const change = turnChangeOf(frames);
  return change !== null && change < minTurnChange;
}

/** Degrees by which a head has to be turned against its straight look. Half: noise decides. Twice: most turns are none. */
const minTurn = 10;
/** And how much nearer or farther it may be. Half: hardly any look is left. Twice: coming closer moves the surroundings, too. */
const maxGrowth = 0.15;

/** The straight look that a turned one is compared with, the nearest in time; null where it is turned too little, or nearer. */
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
