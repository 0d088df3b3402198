import assert from "node:assert/strict";
import test from "node:test";
import { type FramingWatch, framingOf, isReady, type SeenFace, watchFraming } from "./framing.ts";

const good: SeenFace = {
  x: 0.5,
  y: 0.48,
  size: 0.4,
  yaw: 2,
  pitch: -4,
  roll: 1,
  eyes: 0.3,
  mouth: 0.05,
  brightness: 0.5,
};
const seen = (change: Partial<SeenFace>, faces = 1) => framingOf({ faces, face: { ...good, ...change } });

test("each thing that is wrong with the picture has its own hint", () => {
  assert.equal(framingOf({ faces: 0, face: null }), "no_face");
  assert.equal(seen({}, 2), "several_faces");
  assert.equal(seen({ brightness: 0.05 }), "too_dark");
  assert.equal(seen({ size: 0.15 }), "too_far");
  assert.equal(seen({ size: 0.8 }), "too_close");
  assert.equal(seen({ x: 0.2 }), "off_centre");
  assert.equal(seen({ y: 0.75 }), "off_centre");
  assert.equal(seen({ yaw: -20 }), "not_straight");
  assert.equal(seen({ roll: 30 }), "not_straight");
  assert.equal(seen({}), "good");
});

test("who is far away is told to come closer before anything about the middle", () => {
  assert.equal(seen({ size: 0.1, x: 0.1, yaw: 40 }), "too_far");
});

test("a well framed face is ready after a second without a break", () => {
  let watch: FramingWatch | null = null;
  for (const atMs of [0, 200, 400, 600, 800]) {
    watch = watchFraming(watch, "good", atMs);
    assert.equal(isReady(watch, atMs), false);
  }
  watch = watchFraming(watch, "off_centre", 900);
  watch = watchFraming(watch, "good", 1_000);
  assert.equal(isReady(watch, 1_000), false, "a break starts the second anew");
  assert.equal(isReady(watchFraming(watch, "good", 2_000), 2_000), true);
});

test("a hint does not flicker: another one comes only when it stays", () => {
  let watch = watchFraming(null, "too_far", 0);
  assert.equal(watch.shown, "too_far");
  watch = watchFraming(watch, "off_centre", 200);
  assert.equal(watch.shown, "too_far");
  watch = watchFraming(watch, "too_far", 400);
  watch = watchFraming(watch, "off_centre", 600);
  assert.equal(watch.shown, "too_far");
  watch = watchFraming(watch, "off_centre", 1_300);
  assert.equal(watch.shown, "off_centre");
  watch = watchFraming(watch, "good", 1_400);
  assert.equal(watch.shown, "good", "a well framed face is reported at once");
});
