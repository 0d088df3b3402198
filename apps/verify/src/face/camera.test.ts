import assert from "node:assert/strict";
import test from "node:test";
import { problemOf, uprightCrop } from "./camera.ts";

test("the picture that is sent is upright and from the middle, whatever the camera gives", () => {
  assert.deepEqual(uprightCrop(640, 480), { x: 140, y: 0, width: 360, height: 480 });
  assert.deepEqual(uprightCrop(480, 640), { x: 0, y: 0, width: 480, height: 640 });
  assert.deepEqual(uprightCrop(720, 1280), { x: 0, y: 160, width: 720, height: 960 });
});

test("each reason of the browser has its own words, and an unknown one does too", () => {
  assert.equal(problemOf("NotAllowedError"), "denied");
  assert.equal(problemOf("NotFoundError"), "missing");
  assert.equal(problemOf("NotReadableError"), "in_use");
  assert.equal(problemOf("TypeError"), "failed");
});
