import assert from "node:assert/strict";
import test from "node:test";
import { photoSides } from "./photo.ts";

test("a photo of any size is looked at in five sizes or more, which all differ and none of which is larger than it", () => {
  for (const longSide of [1, 40, 300, 640, 1080, 1100, 1279, 1280, 1300, 2000, 2400, 2401, 4000, 12_000]) {
    const sides = photoSides(longSide);
    assert.ok(sides.length >= 5, `${longSide}`);
    assert.ok(
      sides.every((side) => side <= longSide && side >= 0),
      `${longSide}: ${sides}`,
    );
    if (longSide > 20) assert.equal(new Set(sides).size, sides.length, `${longSide}: ${sides}`);
  }
});

test("a photo that is large enough is looked at in sizes of a camera's picture, and in larger ones", () => {
  assert.deepEqual(photoSides(1800), [1280, 1120, 980, 860, 1800]);
  assert.deepEqual(photoSides(4000), [1280, 1120, 980, 860, 1800, 2400]);
});
