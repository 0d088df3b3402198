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
/** Four blocks in the middle of the face, for which a look takes a ninth of the time. */
const middleOfStraight = square((x, y) =>
  x >= 24 && x < 38 && y >= 30 && y < 44 ? texture(x, y) : Number.NaN,
);
const shareOf = (light: (x: number, y: number) => number) => unexplainedShare(straight, square(light)) ?? 1;
const middleShareOf = (light: (x: number, y: number) => number) =>
  unexplainedShare(middleOfStraight, square(light)) ?? 1;
const [middle, low] = [32, 37];
const around = (xx: number, xy: number, yx: number, yy: number) => (x: number, y: number) =>
  texture(x + xx * (x - middle) + xy * (y - low), y + yx * (x - middle) + yy * (y - low));

test("the share is the one by which the limit was chosen", () => {
  const mixed = around(0.3, 0.15, -0.1, -0.25);
  const oneBlock = square((x, y) => (x >= 28 && x < 38 && y >= 34 && y < 44 ? texture(x, y) : Number.NaN));
  const ofOne = unexplainedShare(
    oneBlock,
    square((x, y) => 0.8 * mixed(x - 2.4, y + 1.6) + 0.1 * other(x, y)),
  );
  assert.ok(ofOne !== null && Math.abs(ofOne - 0.013063690737276534) < 1e-12, `${ofOne}`);
  const share = middleShareOf((x, y) => 0.8 * mixed(x - 2.4, y + 1.6) + 0.1 * other(x, y));
  assert.ok(Math.abs(share - 0.01574985481687784) < 1e-12, `${share}`);
});

test("a picture that is moved, stretched or sheared is explained by the straight one", () => {
  for (const [right, down] of [
    [8, 0],
    [-8, 0],
    [0, 8],
    [0, -8],
  ] as const)
    assert.ok(middleShareOf((x, y) => texture(x - right, y - down)) < 1e-9, `${right} ${down}`);
  assert.ok(middleShareOf((x, y) => texture(x - 5.4, y + 3.7)) < 0.01);
  for (const by of [0.2, -0.2]) {
    assert.ok(middleShareOf(around(by, 0, 0, 0)) < 0.01, `across ${by}`);
    assert.ok(middleShareOf(around(0, by, 0, 0)) < 0.01, `sheared ${by}`);
    assert.ok(middleShareOf(around(0, 0, by, 0)) < 0.01, `sheared down ${by}`);
    assert.ok(middleShareOf(around(0, 0, 0, by)) < 0.01, `down ${by}`);
  }
  // Moved and stretched and sheared at once, which takes several steps.
  const mixed = middleShareOf((x, y) => around(0.3, 0.15, -0.1, -0.25)(x - 2.4, y + 1.6));
  assert.ok(mixed < 0.001, `${mixed}`);
});

test("a picture that is bent is explained by the straight one, in every part of the face", () => {
  const bent = shareOf((x, y) => texture(x - 5 * Math.sqrt(Math.max(0, 1 - ((x - middle) / 20) ** 2)), y));
  assert.ok(bent < 0.003, `${bent}`);
});

test("brighter, darker and flatter light changes nothing", () => {
  assert.ok(middleShareOf((x, y) => 20 + 0.6 * texture(x - 3, y)) < 0.01);
});

test("what the straight look does not show is not explained, in proportion to the contrast it hides", () => {
  const all = shareOf(other);
  const half = shareOf((x, y) => (x < 32 ? other(x, y) : texture(x - 3, y)));
  assert.ok(all > 0.2, `${all}`);
  assert.ok(half > 0.2 * all && half < 0.75 * all, `${half} of ${all}`);
});

test("a block at the edge of what is visible is placed by parts of a pixel too", () => {
  const block = square((x, y) => (x >= 28 && x < 38 && y >= 34 && y < 44 ? texture(x, y) : Number.NaN));
  const cut = square((x, y) => (x < 30 ? Number.NaN : texture(x - 2.4, y)));
  const share = unexplainedShare(block, cut) ?? 1;
  assert.ok(share < 0.001, `${share}`);
});

test("what lies below the picture is not taken for darkness, which the chin may end in", () => {
  // Brightness that falls to nothing, and in the turned look does so below the last row.
  const falling = (x: number, y: number) => Math.max(50 - y, 0) * 6 * (1.2 + Math.sin(x * 0.2 + y * 0.15));
  const chin = square((x, y) => (x >= 28 && x < 38 && y >= 46 && y < 56 ? falling(x, y) : Number.NaN));
  const lower = square((x, y) => falling(x, y - 10));
  const share = unexplainedShare(chin, lower) ?? 0;
  assert.ok(share > 0.05, `${share}`);
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
      middleOfStraight,
      square(() => Number.NaN),
    ),
    null,
  );
  const cut = square((x, y) => (x < 24 ? Number.NaN : texture(x - 2, y)));
  const share = unexplainedShare(straight, cut);
  assert.ok(share !== null && share < 0.05, `${share}`);
  assert.ok(faceBlocks.length > 0);
});
