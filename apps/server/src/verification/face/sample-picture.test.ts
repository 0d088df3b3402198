import assert from "node:assert/strict";
import { test } from "node:test";
import { type Chip, chipPixels } from "@assay/face/face-chip";
import { pointsInPicture, sampleChip } from "./sample-picture.ts";

/** Red is the column, green the row, blue is every second pixel. */
const [width, height] = [200, 180];
const picture = {
  width,
  height,
  rgb: Uint8Array.from({ length: width * height * 3 }, (_, at) => {
    const [x, y] = [Math.floor(at / 3) % width, Math.floor(at / 3 / width)];
    return [x, y, (x + y) % 2 === 0 ? 255 : 0][at % 3] ?? 0;
  }),
};

/** The colour of a pixel of the chip before the mean was subtracted. */
function colourAt(chip: Chip, column: number, row: number): readonly number[] {
  const pixels = new Float32Array(3 * chipPixels ** 2);
  sampleChip(picture, pixels, chip, [10, 20, 30]);
  return [10, 20, 30].map(
    (mean, channel) => (pixels[channel * chipPixels ** 2 + row * chipPixels + column] ?? 0) * 255 + mean,
  );
}
const near = (actual: readonly number[], expected: readonly number[]) => {
  for (const [channel, value] of expected.entries())
    assert.ok(Math.abs((actual[channel] ?? 0) - value) < 0.01, `${actual} instead of ${expected}`);
};

test("a chip shows the picture where it lies: moved, between its pixels, turned, and black beyond its edge", () => {
  near(colourAt({ left: 20, top: 7, along: 1, across: 0 }, 5, 9), [25, 16, 0]);
  near(colourAt({ left: 20.5, top: 7, along: 1, across: 0 }, 5, 9), [25.5, 16, 127.5]);
  near(colourAt({ left: 20, top: 7.25, along: 1, across: 0 }, 5, 9), [25, 16.25, 63.75]);
  // A quarter turn: to the right in the chip is down in the picture.
  near(colourAt({ left: 190, top: 3, along: 0, across: 1 }, 5, 9), [181, 8, 0]);
  near(colourAt({ left: -20, top: 0, along: 1, across: 0 }, 5, 9), [0, 0, 0]);
  near(colourAt({ left: 100, top: 0, along: 1, across: 0 }, 120, 9), [0, 0, 0]);
  near(colourAt({ left: 0, top: -20, along: 1, across: 0 }, 5, 9), [0, 0, 0]);
  near(colourAt({ left: 0, top: 60, along: 1, across: 0 }, 5, 140), [0, 0, 0]);
  near(colourAt({ left: 50, top: 30, along: 1, across: 0 }, 149, 149), [199, 179, 255]);
});

test("a chip of a large face shows the mean of its pixels, so that fine patterns do not become coarse ones", () => {
  near(colourAt({ left: 0.5, top: 0.5, along: 2, across: 0 }, 40, 30), [80.5, 60.5, 127.5]);
});

test("points of a cut are in pixels of the picture, without the bars that made it square", () => {
  const wide = pointsInPicture([0, 0.25, 1, 0.5], { x: 30, y: 40, width: 80, height: 40 });
  assert.deepEqual([...wide], [30, 40, 110, 60]);
  const high = pointsInPicture([0.25, 0, 0.5, 1], { x: 30, y: 40, width: 40, height: 80 });
  assert.deepEqual([...high], [30, 40, 50, 120]);
});
