import fc from "fast-check";
import { type Challenge, newChallenge } from "../src/challenge.ts";
import type { FaceMeasurement, FrameMeasurement } from "../src/measurement.ts";

export const challenges = fc
  .infiniteStream(fc.nat(1_000_000))
  .map((numbers): Challenge => newChallenge((below) => (numbers.next().value ?? 0) % below));
export const people = fc.record({
  yaw: fc.double({ min: -8, max: 8, noNaN: true }),
  pitch: fc.double({ min: -15, max: 15, noNaN: true }),
  size: fc.double({ min: 120, max: 260, noNaN: true }),
  tremble: fc.double({ min: 0, max: 1, noNaN: true }),
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
