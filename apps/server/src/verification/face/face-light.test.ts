import assert from "node:assert/strict";
import { test } from "node:test";
import { squareWithSurroundings, surroundingsPixels } from "@assay/face/face-square";
import type { DecodedPicture } from "./decode-picture.ts";
import { lightAround, lightOf, middleOfFace, surroundingsAt } from "./face-light.ts";

type Colour = readonly [red: number, green: number, blue: number];

function pictureOf(
  width: number,
  height: number,
  colourAt: (x: number, y: number) => Colour,
): DecodedPicture {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) rgb.set(colourAt(x, y), (y * width + x) * 3);
  return { width, height, rgb };
}
const brightness = ([red, green, blue]: Colour) => 0.2126 * red + 0.7152 * green + 0.0722 * blue;
/** Differs in every pixel and channel. */
const varied = (x: number, y: number): Colour => [
  (7 * x + 13 * y) % 256,
  (29 * x + 3 * y) % 256,
  (5 * x + 17 * y) % 256,
];
const near = (actual: number | null | undefined, expected: number) =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-4, `${actual} instead of ${expected}`);

const box = { x: 10, y: 10, width: 20, height: 20 };

test("the light of a face is that of its middle, its surroundings lie beyond hair and shoulders, both linear", () => {
  const colourAt = (x: number, y: number): Colour => {
    if (x > 14 && x < 26 && y > 13 && y < 27) return [255, 128, 10];
    return x < 5 || x > 35 || y < 3 || y > 36 ? [10, 255, 128] : [77, 77, 77];
  };
  const { faceLight, surroundingLight } = lightOf(pictureOf(41, 41, colourAt), box);
  for (const [channel, expected] of [1, 0.2158605, 0.0030353].entries()) near(faceLight[channel], expected);
  for (const [channel, expected] of [0.0030353, 1, 0.2158605].entries())
    near(surroundingLight?.[channel], expected);
  // What is beside the head alone is enough.
  const tall = lightOf(pictureOf(41, 41, colourAt), { ...box, y: -100, height: 300 });
  near(tall.surroundingLight?.[1], 1);
});

test("less than half a percent of the picture is no light to measure", () => {
  const white = (height: number) => pictureOf(8, height, () => [255, 255, 255]);
  // Only the last row, eight pixels, lies beyond the head.
  const face = { x: -20, y: 0, width: 48, height: 148 };
  assert.deepEqual(lightOf(white(201), face).surroundingLight, null);
  assert.deepEqual(lightOf(white(200), { ...face, height: 147 }).surroundingLight, [1, 1, 1]);
  const gone = { x: 500, y: 500, width: 10, height: 10 };
  assert.deepEqual(lightOf(white(200), gone), { faceLight: [0, 0, 0], surroundingLight: [1, 1, 1] });
});

test("every other pixel of a large picture is enough", () => {
  const picture = pictureOf(300, 300, (x, y) => (x % 2 === 0 && y % 2 === 0 ? [255, 255, 255] : [0, 0, 0]));
  // One of the rows that are read lies beyond the head.
  const face = { x: 0, y: 0, width: 300, height: 220 };
  assert.deepEqual(lightOf(picture, face), { faceLight: [1, 1, 1], surroundingLight: [1, 1, 1] });
});

test("the light around a point is the mean of nine pixels, and unknown at the edge of the picture", () => {
  const picture = pictureOf(6, 5, varied);
  const meanAround = (column: number, row: number) =>
    [-1, 0, 1]
      .flatMap((down) => [-1, 0, 1].map((across) => brightness(varied(column + across, row + down))))
      .reduce((sum, value) => sum + value, 0) / 9;
  for (const [x, y, column, row] of [
    [2, 2, 2, 2],
    [0.5, 1.4, 1, 1],
    [4.49, 3.49, 4, 3],
  ] as const)
    near(lightAround(picture, x, y), meanAround(column, row));
  for (const [x, y] of [
    [0.4, 2],
    [2, 0.4],
    [4.5, 2],
    [2, 3.5],
    [Number.NaN, 2],
    [2, Number.NaN],
  ] as const)
    assert.equal(lightAround(picture, x, y), null, `${x} ${y}`);
});

test("patterns are looked for in the middle of a face that is large enough and wholly in the picture", () => {
  const picture = pictureOf(80, 90, varied);
  const face = { x: 5, y: 7, width: 70, height: 72 };
  const middle = middleOfFace(picture, face);
  assert.equal(middle?.length, 64 * 64);
  for (const [column, row] of [
    [0, 0],
    [63, 0],
    [0, 63],
    [17, 40],
  ] as const)
    near(middle?.[row * 64 + column], brightness(varied(8 + column, 11 + row)));
  const seen = (face: { x: number; y: number; width: number; height: number }) =>
    middleOfFace(picture, face) !== null;
  assert.ok(seen({ x: 0, y: 0, width: 64, height: 64 }));
  assert.ok(seen({ x: 16, y: 26, width: 64, height: 64 }));
  assert.ok(!seen({ ...face, width: 63 }));
  assert.ok(!seen({ ...face, height: 63 }));
  assert.ok(!seen({ ...face, x: -4 }));
  assert.ok(!seen({ ...face, y: -5 }));
  assert.ok(!seen({ ...face, x: 14 }));
  assert.ok(!seen({ ...face, y: 23 }));
  assert.ok(!seen({ ...face, x: Number.NaN }));
});

/** Means over this many samples in each direction of a pixel of the square. */
function expectedSquare(size: readonly [number, number], face: typeof box, samples: number): number[] {
  const { left, top, step } = squareWithSurroundings(face);
  return Array.from({ length: surroundingsPixels ** 2 }, (_, pixel) => {
    const seen: number[] = [];
    for (let down = 0.5; down < samples; down++)
      for (let across = 0.5; across < samples; across++) {
        const x = Math.floor(left + ((pixel % surroundingsPixels) + across / samples) * step);
        const y = Math.floor(top + (Math.floor(pixel / surroundingsPixels) + down / samples) * step);
        if (x >= 0 && y >= 0 && x < size[0] && y < size[1]) seen.push(brightness(varied(x, y)));
      }
    return seen.reduce((sum, value) => sum + value, 0) / seen.length;
  });
}

test("the square of a face is sampled as finely as the picture, up to eight times a side, and unknown outside of it", () => {
  for (const [height, samples] of [
    [30, 1],
    [60, 2],
    [600, 8],
  ] as const) {
    const size = [50, 45] as const;
    const face = { x: 15, y: 25, width: 24, height };
    const square = surroundingsAt(pictureOf(...size, varied), face);
    const expected = expectedSquare(size, face, samples);
    assert.equal(square.length, expected.length);
    assert.ok(expected.some(Number.isNaN) && !expected.every(Number.isNaN));
    for (const [at, light] of square.entries()) {
      if (Number.isNaN(expected[at])) assert.ok(Number.isNaN(light), `${height}: ${at}`);
      else near(light, expected[at] ?? 0);
    }
  }
});
