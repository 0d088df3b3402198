import assert from "node:assert/strict";
import { test } from "node:test";
import { performed } from "../test/performed-movements.ts";
import type { FrameMeasurement } from "./measurement.ts";
import {
  isBent,
  minSurroundings,
  squareWithSurroundings,
  straightLookFor,
  surroundingsOf,
  surroundingsPixels,
  surroundingsShare,
} from "./still-surroundings.ts";

/** Something else to see everywhere, the same at the same place; from 20 to 230. */
const texture = (x: number, y: number) => 125 + 105 * Math.sin(x * x * 12.9898 + y * 78.233 + x * y * 3.7);

/** A square in which the face has moved by so many pixels, and what surrounds it by others. */
function square(face: number, around: number, { gain = 1, shake = 0, shakeDown = 0 } = {}): Float64Array {
  const middle = surroundingsPixels / 2;
  return Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) => {
    const [x, y] = [(at % surroundingsPixels) - shake, Math.floor(at / surroundingsPixels) - shakeDown];
    // The middle of the face is below that of the square.
    const inFace = ((x - middle) / 15) ** 2 + ((y - middle - 5) / 18) ** 2 < 1;
    return gain * texture(x - (inFace ? face : around), y);
  });
}
const straight = square(0, 0);

test("surroundings that stay while the face turns are told from those that turn with it", () => {
  const bent = surroundingsShare(straight, square(3, 0));
  const head = surroundingsShare(straight, square(3, 7));
  assert.ok(bent !== null && bent < 0.01, `${bent}`);
  assert.ok(head !== null && head > 0.5, `${head}`);
});

test("surroundings that stay are seen whatever the light is and however the camera trembles", () => {
  for (const how of [
    { gain: 1.25 },
    { gain: 0.8 },
    { shake: 4 },
    { shake: -5 },
    { shakeDown: 3 },
    { shakeDown: -5 },
  ]) {
    const share = surroundingsShare(straight, square(3, 0, how));
    assert.ok(share !== null && share < 0.05, `${JSON.stringify(how)}: ${share}`);
  }
  // Further than a hand trembles, everything has moved.
  const far = surroundingsShare(straight, square(3, 0, { shake: 9 }));
  assert.ok(far !== null && far > 0.3, `${far}`);
});

test("shoulders that move do not count as surroundings of the face", () => {
  const shrugged = square(3, 0).map((light, at) => (at > 55 * surroundingsPixels ? 250 - light : light));
  const share = surroundingsShare(straight, shrugged);
  assert.ok(share !== null && share < 0.01, `${share}`);
});

test("surroundings that are hardly in the picture are not measured, and neither is a face that did not change", () => {
  const cut = (share: number) =>
    square(3, 0).map((light, at) =>
      at % surroundingsPixels < share * surroundingsPixels ? Number.NaN : light,
    );
  assert.equal(surroundingsShare(straight, cut(0.62)), null);
  assert.ok((surroundingsShare(straight, cut(0.2)) ?? 1) < 0.05);
  assert.equal(surroundingsShare(straight, straight), null);
  assert.equal(surroundingsShare(new Float64Array(surroundingsPixels ** 2).fill(Number.NaN), straight), null);
});

test("the square of a face is 1.9 faces high, with more of what is above", () => {
  const { left, top, step } = squareWithSurroundings({ x: 100, y: 200, width: 80, height: 100 });
  assert.ok(Math.abs(step * surroundingsPixels - 190) < 1e-9);
  assert.ok(Math.abs(left - (140 - 95)) < 1e-9);
  assert.ok(Math.abs(top - (250 - 95 - 0.08 * 190)) < 1e-9);
});

const frames = performed(["turn_left"], { yaw: 0, pitch: 0, size: 180, tremble: 0 }, () => 0.5);
const withShare = (shares: readonly (number | undefined)[]): FrameMeasurement[] =>
  frames.map((frame, index) => {
    const surroundings = shares[index];
    if (frame.face === null || surroundings === undefined) return frame;
    return { ...frame, face: { ...frame.face, surroundings } };
  });

test("a face is bent when the mean of its turned looks is under the limit, and never where nothing was measured", () => {
  assert.equal(minSurroundings, 0.12);
  assert.equal(surroundingsOf(frames), null);
  assert.equal(isBent(frames), false);
  assert.equal(surroundingsOf(withShare([0.2, undefined, 0.1])), 0.15000000000000002);
  assert.equal(isBent(withShare([0.02, 0.21])), true);
  assert.equal(isBent(withShare([0.02, 0.23])), false);
  assert.equal(isBent(withShare([Number.NaN])), false);
});

test("a turned look is compared with the straight look that is nearest in time and as near to the camera", () => {
  const look = (atMs: number, yaw: number, size = 100, pitch = 0): FrameMeasurement => {
    const [frame] = frames;
    assert.ok(frame !== undefined && frame.face !== null);
    return { ...frame, atMs, face: { ...frame.face, yaw, pitch, size } };
  };
  const early = look(0, 1);
  const late = look(900, 2);
  const atMs = (turned: FrameMeasurement) => straightLookFor(turned, [early, late])?.atMs ?? null;
  assert.equal(atMs(look(400, 20)), 0);
  assert.equal(atMs(look(500, 20)), 900);
  assert.equal(atMs(look(500, -20)), 900);
  assert.equal(atMs(look(500, 0, 100, 12)), 900);
  assert.equal(atMs(look(500, 11.5)), 0);
  assert.equal(atMs(look(500, 10.5)), null);
  assert.equal(atMs(look(500, 20, 116)), null);
  assert.equal(atMs(look(500, 20, 86)), null);
  assert.equal(atMs(look(500, 20, 114)), 900);
  assert.equal(straightLookFor({ ...early, face: null }, [late]), null);
});
