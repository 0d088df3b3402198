import assert from "node:assert/strict";
import { test } from "node:test";
import { faceBlocks, squareWithSurroundings, surroundingsPixels } from "./face-square.ts";

test("the square of a face is 1.9 faces high, with more of what is above", () => {
  const { left, top, step } = squareWithSurroundings({ x: 100, y: 200, width: 80, height: 100 });
  assert.ok(Math.abs(step * surroundingsPixels - 190) < 1e-9);
  assert.ok(Math.abs(left - (140 - 95)) < 1e-9);
  assert.ok(Math.abs(top - (250 - 95 - 0.08 * 190)) < 1e-9);
});

test("the blocks lie on a grid over the middle of the face", () => {
  assert.equal(faceBlocks.length, 36);
  assert.ok(faceBlocks.every(({ x, y }) => x % 4 === 0 && y % 4 === 2));
  assert.deepEqual(
    faceBlocks.filter(({ y }) => y === 38).map(({ x }) => x),
    [20, 24, 28, 32, 36, 40],
  );
});
