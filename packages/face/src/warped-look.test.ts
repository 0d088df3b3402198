import assert from "node:assert/strict";
import { test } from "node:test";
import { faceBlocks, surroundingsPixels } from "./face-square.ts";
import { unexplainedShare } from "./warped-look.ts";

/** Soft enough to be moved by parts of a pixel, and different everywhere. */
const texture = (x: number, y: number) =>
  125 +
  40 * Math.sin(x * 0.61 + y * 0.17) +
  35 * Math.sin(y * 0.53 - x * 0.29) +
  20 * Math.sin(x * y * 0.011);
const other = (x: number, y: number) => 125 + 100 * Math.sin(x * x * 12.9898 + y * 78.233 + x * y * 3.7);
const square = (light: (x: number, y: number) => number) =>
  Float64Array.from({ length: surroundingsPixels ** 2 }, (_, at) =>
    light(at % surroundingsPixels, Math.floor(at / surroundingsPixels)),
  );
const straight = square(texture);
const shareOf = (light: (x: number, y: number) => number) => unexplainedShare(straight, square(light)) ?? 1;

test("a picture that is moved, stretched, sheared or bent is explained by the straight one", () => {
  assert.ok(shareOf(texture) < 1e-9);
  for (const [right, down] of [
    [8, 0],
    [-8, 0],
    [0, 8],
    [0, -8],
    [5.4, -3.7],
  ] as const)
    assert.ok(shareOf((x, y) => texture(x - right, y - down)) < 0.01, `${right} ${down}`);
  const [middle, low] = [32, 37];
  const around = (xx: number, xy: number, yx: number, yy: number) => (x: number, y: number) =>
    texture(x + xx * (x - middle) + xy * (y - low), y + yx * (x - middle) + yy * (y - low));
  for (const by of [0.2, -0.2]) {
    assert.ok(shareOf(around(by, 0, 0, 0)) < 0.01, `across ${by}`);
    assert.ok(shareOf(around(0, by, 0, 0)) < 0.01, `sheared ${by}`);
    assert.ok(shareOf(around(0, 0, by, 0)) < 0.01, `sheared down ${by}`);
    assert.ok(shareOf(around(0, 0, 0, by)) < 0.01, `down ${by}`);
  }
  // Moved and stretched and sheared at once, which takes several steps.
  const mixed = shareOf((x, y) => around(0.3, 0.15, -0.1, -0.25)(x - 2.4, y + 1.6));
  assert.ok(mixed < 0.014, `${mixed}`);
  const bent = shareOf((x, y) => texture(x - 5 * Math.sqrt(Math.max(0, 1 - ((x - middle) / 20) ** 2)), y));
  assert.ok(bent < 0.03, `${bent}`);
});

test("brighter, darker and flatter light changes nothing", () => {
  assert.ok(shareOf((x, y) => 20 + 0.6 * texture(x - 3, y)) < 0.01);
});

test("what the straight look does not show is not explained, in proportion to the contrast it hides", () => {
  const all = shareOf(other);
  const half = shareOf((x, y) => (x < 32 ? other(x, y) : texture(x - 3, y)));
  assert.ok(all > 0.2, `${all}`);
  assert.ok(half > 0.2 * all && half < 0.75 * all, `${half} of ${all}`);
});

test("blocks without contrast or outside of the picture do not count, and without any there is no share", () => {
  assert.equal(
    unexplainedShare(
      square(() => 90),
      straight,
    ),
    null,
  );
  assert.equal(
    unexplainedShare(
      square((x) => 90 + (x % 2)),
      straight,
    ),
    null,
  );
  assert.equal(
    unexplainedShare(
      square(() => Number.NaN),
      straight,
    ),
    null,
  );
  assert.equal(
    unexplainedShare(
      straight,
      square(() => Number.NaN),
    ),
    null,
  );
  const cut = square((x, y) => (x < 24 ? Number.NaN : texture(x - 2, y)));
  const share = unexplainedShare(straight, cut);
  assert.ok(share !== null && share < 0.05, `${share}`);
  assert.ok(faceBlocks.length > 0);
});
