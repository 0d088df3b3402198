import assert from "node:assert/strict";
import { test } from "node:test";
import { performed } from "../test/performed-movements.ts";
import { surroundingsPixels } from "./face-square.ts";
import type { FrameMeasurement } from "./measurement.ts";
import { surroundingsShare } from "./still-surroundings.ts";
import { isBent, minTurnChange, straightLookFor, turnChange, turnChangeOf } from "./turn-change.ts";
import { unexplainedShare } from "./warped-look.ts";

const texture = (x: number, y: number, phase = 0) =>
  125 + 60 * Math.sin(x * 0.7 + y * 0.3 + phase) + 45 * Math.sin(y * 0.9 - x * 0.2);
const square = (light: (x: number, y: number) => number) =>
  Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) =>
    light(at % surroundingsPixels, Math.floor(at / surroundingsPixels)),
  );

test("the change of a turned look is the geometric mean of both shares, the surroundings twice, and none where one is missing", () => {
  const straight = square((x, y) => texture(x, y));
  const turned = square((x, y) => texture(x * 1.1 - 2, y, x / 30));
  const [around, within] = [surroundingsShare(straight, turned), unexplainedShare(straight, turned)];
  assert.ok(around !== null && within !== null && around > 0 && within > 0);
  assert.equal(turnChange(straight, turned), Math.cbrt(around ** 2 * within));
  const flat = square(() => 100);
  assert.equal(unexplainedShare(flat, turned), null);
  assert.equal(turnChange(flat, turned), null);
  // A face at the edge of the picture: what is around it is not seen, so it must not count as still.
  const edge = square((x, y) =>
    ((x - 32) / 16) ** 2 + ((y - 37) / 19) ** 2 < 1 ? texture(x, y) : Number.NaN,
  );
  assert.equal(surroundingsShare(straight, edge), null);
  assert.notEqual(unexplainedShare(straight, edge), null);
  assert.equal(turnChange(straight, edge), null);
});

const frames = performed(["turn_left"], { yaw: 0, pitch: 0, size: 180, tremble: 0 }, () => 0.5);
const withChange = (changes: readonly (number | undefined)[]): FrameMeasurement[] =>
  frames.map((frame, index) => {
    const change = changes[index];
    if (frame.face === null || change === undefined) return frame;
    return { ...frame, face: { ...frame.face, turnChange: change } };
  });

test("a face is bent when the mean of its turned looks is under the limit, and never where nothing was measured", () => {
  assert.equal(minTurnChange, 0.115);
  assert.equal(turnChangeOf(frames), null);
  assert.equal(isBent(frames), false);
  assert.equal(turnChangeOf(withChange([0.25, undefined, 0.75])), 0.5);
  assert.equal(isBent(withChange([0.02, 0.19])), true);
  assert.equal(isBent(withChange([0.02, 0.22])), false);
  assert.equal(isBent(withChange([Number.NaN])), false);
  assert.equal(isBent(withChange([minTurnChange])), false);
  const [first] = frames;
  assert.ok(first !== undefined);
  assert.equal(turnChangeOf([{ ...first, face: null }, ...withChange([0.25])]), 0.25);
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
  assert.equal(atMs(look(900, 12)), 900);
  assert.equal(atMs(look(500, 20, 115)), 900);
  assert.equal(atMs(look(450, 20)), 0);
  assert.equal(atMs(look(-100, 20)), 0);
  // Nearest by the time between the looks, not by the time of the try.
  assert.equal(straightLookFor(look(500, 20), [look(300, 1), look(900, 1)])?.atMs, 300);
  const raised = look(0, 0, 100, 8);
  assert.equal(straightLookFor(look(500, 0, 100, 4), [raised]), null);
  assert.equal(straightLookFor(look(500, 20), [{ ...early, face: null }, late])?.atMs, 900);
  assert.equal(straightLookFor({ ...early, face: null }, [late]), null);
});
