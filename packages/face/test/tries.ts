import fc from "fast-check";
import { type Challenge, newChallenge } from "../src/challenge.ts";
import type { FaceMeasurement, FrameMeasurement } from "../src/measurement.ts";

/** `fc.double` would draw from all doubles, of which most are as good as zero. */
export const evenly = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 10_000 }).map((share) => min + ((max - min) * share) / 10_000);

export const challenges = fc
  .infiniteStream(fc.nat(1_000_000))
  .map((numbers): Challenge => newChallenge((below) => (numbers.next().value ?? 0) % below));
export const people = fc.record({
  yaw: evenly(-8, 8),
  pitch: evenly(-15, 15),
  size: evenly(120, 260),
  tremble: evenly(0, 1),
});
export const randoms = fc.nat(1_000_000).map((seed) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
});

export const withFace = (
  frame: FrameMeasurement,
  change: (face: FaceMeasurement) => Partial<FaceMeasurement>,
) => (frame.face === null ? frame : { ...frame, face: { ...frame.face, ...change(frame.face) } });
