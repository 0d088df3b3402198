import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { homographyBetween, type Point, project, type Quad, quadOf, turnedQuad } from "./geometry.ts";
import { greyOf, shrink, sizeFor, standardised, straighten } from "./grey.ts";
import { hintFor } from "./hint.ts";
import type { Plane } from "./network.ts";

const square = (size: number, at: Point = { x: 0, y: 0 }): Quad => [
  at,
  { x: at.x + size, y: at.y },
  { x: at.x + size, y: at.y + size },
  { x: at.x, y: at.y + size },
];
const plane = (width: number, height: number, value: (x: number, y: number) => number): Plane => ({
  width,
  height,
  data: Float32Array.from({ length: width * height }, (_, at) => value(at % width, Math.floor(at / width))),
});

test("a map takes every corner to its partner", () => {
  const corner = (x: number, y: number) =>
    fc.record({
      x: fc.double({ min: x, max: x + 40, noNaN: true }),
      y: fc.double({ min: y, max: y + 40, noNaN: true }),
    });
  const quads = fc.tuple(corner(0, 0), corner(100, 0), corner(100, 100), corner(0, 100));
  fc.assert(
    fc.property(quads, quads, (from, to) => {
      const map = homographyBetween(from, to);
      assert.ok(map !== null);
      for (const [index, point] of from.entries()) {
        const { x, y } = project(map, point);
        assert.ok(Math.abs(x - (to[index]?.x ?? 0)) < 1e-6 && Math.abs(y - (to[index]?.y ?? 0)) < 1e-6);
      }
    }),
  );
});

test("corners on a line, in one point or nowhere have no map", () => {
  const line: Quad = [
    { x: 0, y: 0 },
    { x: 1, y: 1 },
    { x: 2, y: 2 },
    { x: 3, y: 3 },
  ];
  const point = { x: 1, y: 1 };
  const nowhere = { x: Number.NaN, y: 0 };
  for (const bad of [line, [point, point, point, point], [nowhere, nowhere, nowhere, nowhere]] as Quad[])
    assert.equal(homographyBetween(bad, square(10)), null);
  assert.equal(quadOf([point, point, point]), null);
});

test("a quad that is turned twice is itself", () => {
  assert.deepEqual(turnedQuad(turnedQuad(square(3))), square(3));
  assert.deepEqual(turnedQuad(square(3))[0], { x: 3, y: 3 });
});

test("shrinking keeps the mean, and every pixel is the mean of those it touches", () => {
  const seen = shrink(
    plane(8, 4, (x) => x),
    4,
    2,
  );
  assert.deepEqual([...seen.data], [0.5, 2.5, 4.5, 6.5, 0.5, 2.5, 4.5, 6.5]);
  // Five become two: the one in the middle belongs to both.
  assert.deepEqual(
    [
      ...shrink(
        plane(5, 1, (x) => x),
        2,
        1,
      ).data,
    ],
    [1, 3],
  );
  assert.deepEqual(
    sizeFor(
      plane(1280, 720, () => 0),
      256,
      16,
    ),
    { width: 256, height: 144 },
  );
  assert.deepEqual(
    sizeFor(
      plane(1, 4000, () => 0),
      256,
      16,
    ),
    { width: 16, height: 256 },
  );
});

test("what is straightened by the identity is the picture, and what lies outside is its border", () => {
  const picture = plane(6, 5, (x, y) => x + 10 * y);
  const identity = homographyBetween(square(4), square(4));
  assert.ok(identity !== null);
  const seen = straighten(picture, identity, 4, 3, { x: 1, y: 1, stepX: 1, stepY: 1 });
  for (let y = 0; y < 3; y++)
    for (let x = 0; x < 4; x++)
      assert.ok(Math.abs((seen.data[y * 4 + x] ?? 0) - (x + 1 + 10 * (y + 1))) < 1e-4);
  const outside = straighten(picture, identity, 2, 2, { x: -100, y: -100, stepX: 1, stepY: 1 });
  assert.deepEqual([...outside.data], [0, 0, 0, 0]);
  const tiny = straighten(
    plane(1, 1, () => 7),
    identity,
    2,
    2,
    { x: 0, y: 0, stepX: 1, stepY: 1 },
  );
  assert.deepEqual([...tiny.data], [7, 7, 7, 7]);
});

test("grey is what the eye sees of red, green and blue, and is the same for any light once it is standardised", () => {
  assert.deepEqual(
    [...greyOf(new Uint8ClampedArray([255, 255, 255, 255, 0, 0, 0, 255]), 2, 1).data].map((value) =>
      Math.round(value * 1000),
    ),
    [1000, 0],
  );
  const dark = standardised(
    plane(4, 4, (x) => 0.1 + 0.05 * x),
    0,
  ).data;
  const bright = standardised(
    plane(4, 4, (x) => 0.2 + 0.1 * x),
    0,
  ).data;
  for (const [at, value] of dark.entries()) assert.ok(Math.abs(value - (bright[at] ?? 0)) < 1e-4);
  assert.ok(
    standardised(
      plane(2, 2, () => 0.5),
      0.05,
    ).data.every((value) => value === 0),
  );
});

test("one hint at a time: what keeps the lines from being read most", () => {
  const frame = (value: (x: number, y: number) => number = () => 0.6) => plane(1280, 200, value);
  const zone = (quad: Quad) => ({ quad, shapes: ["TD3"] as const });
  const good: Quad = [
    { x: 100, y: 60 },
    { x: 1100, y: 60 },
    { x: 1100, y: 160 },
    { x: 100, y: 160 },
  ];
  assert.equal(hintFor(frame(), null), "show_lines");
  // Without lines the whole picture counts, of which much may be a dark table.
  for (const [light, hint] of [
    [0.07, "more_light"],
    [0.09, "show_lines"],
  ] as const)
    assert.equal(
      hintFor(
        frame(() => light),
        null,
      ),
      hint,
    );
  assert.equal(hintFor(frame(), zone(good)), "hold_still");
  assert.equal(
    hintFor(
      frame(() => 0.1),
      zone(good),
    ),
    "more_light",
  );
  assert.equal(
    hintFor(
      frame((x) => (x > 800 ? 1 : 0.6)),
      zone(good),
    ),
    "less_glare",
  );
  const [a, b, c, d] = good;
  assert.equal(hintFor(frame(), zone([a, b, { ...c, y: 220 }, d])), "flatter");
  const small = (point: Point) => ({ x: point.x / 3, y: point.y / 3 });
  assert.equal(hintFor(frame(), zone([small(a), small(b), small(c), small(d)])), "closer");
});
