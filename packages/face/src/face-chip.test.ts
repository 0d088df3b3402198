import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evenly } from "../test/tries.ts";
import { type Chip, chipOf, chipPixels } from "./face-chip.ts";

/** Maps a point of the chip to the picture. */
const inPicture = ({ left, top, along, across }: Chip, u: number, v: number) => [
  left + along * u - across * v,
  top + across * u + along * v,
];

const turned = fc.record({
  left: evenly(-500, 500),
  top: evenly(-500, 500),
  scale: evenly(0.2, 6),
  angle: evenly(-Math.PI, Math.PI),
});

/** Landmarks of a face that is exactly the mean face, placed by this chip. All others are far away. */
function landmarksAt(chip: Chip): number[] {
  const landmarks = Array.from({ length: 136 }, () => 1e6);
  for (const [landmark, u, v] of meanFace) {
    const [x = 0, y = 0] = inPicture(chip, u, v);
    landmarks[2 * landmark] = x;
    landmarks[2 * landmark + 1] = y;
  }
  return landmarks;
}

/** Calculated from the published mean face: (0.25 + share) / 1.5 of 150 pixels. */
const meanFace = [
  ...([
    [27, 74.0127, 45.3352],
    [28, 74.0127, 55.7009],
    [29, 74.0127, 65.9805],
    [30, 74.0127, 76.5625],
  ] as const),
  ...([
    [31, 61.688, 83.7326],
    [32, 67.6036, 85.9345],
    [33, 74.0127, 87.8106],
    [34, 80.4217, 85.9345],
  ] as const),
  ...([
    [35, 86.3373, 83.7326],
    [36, 37.1737, 46.6423],
    [37, 43.7122, 42.8758],
    [38, 51.5825, 42.9852],
  ] as const),
  ...([
    [39, 58.4606, 48.1733],
    [40, 51.0918, 49.5099],
    [41, 43.2743, 49.4077],
    [42, 89.5647, 48.1733],
  ] as const),
  ...([
    [43, 96.4428, 42.9852],
    [44, 104.3132, 42.8758],
    [45, 110.8516, 46.6423],
    [46, 104.751, 49.4077],
  ] as const),
  ...([
    [47, 96.9335, 49.5099],
    [48, 50.4149, 103.0233],
    [49, 59.0985, 99.5405],
    [50, 67.8858, 97.7388],
  ] as const),
  ...([
    [51, 74.0127, 99.2578],
    [52, 80.1395, 97.7388],
    [53, 88.9268, 99.5405],
    [54, 97.6104, 103.0233],
  ] as const),
  ...([
    [60, 54.0379, 103.4792],
    [61, 67.8096, 102.8746],
    [62, 74.0127, 103.5343],
    [63, 80.2157, 102.8746],
  ] as const),
  ...([[64, 93.9874, 103.4792]] as const),
];

test("a face is turned, scaled and moved to where the network was trained to see it, wherever it is in the picture", () => {
  assert.equal(chipPixels, 150);
  fc.assert(
    fc.property(turned, ({ left, top, scale, angle }) => {
      const wanted = { left, top, along: scale * Math.cos(angle), across: scale * Math.sin(angle) };
      const chip = chipOf(landmarksAt(wanted));
      for (const [u, v] of [
        [0, 0],
        [150, 0],
        [0, 150],
      ] as const) {
        const [x = 0, y = 0] = inPicture(chip, u, v);
        const [wantedX = 0, wantedY = 0] = inPicture(wanted, u, v);
        assert.ok(
          Math.hypot(x - wantedX, y - wantedY) < 0.01,
          `${x}, ${y} instead of ${wantedX}, ${wantedY}`,
        );
      }
    }),
  );
});

test("a landmark that is off pulls the chip as little as one of 33 can", () => {
  const upright = { left: 0, top: 0, along: 1, across: 0 };
  const landmarks = landmarksAt(upright);
  landmarks[2 * 36] = (landmarks[2 * 36] ?? 0) + 6.6;
  const { left, top, along, across } = chipOf(landmarks);
  const [x = 0, y = 0] = inPicture({ left, top, along, across }, 74, 70);
  assert.ok(Math.abs(x - 74.2) < 0.05 && Math.abs(y - 70) < 0.3, `${x}, ${y}`);
  assert.ok(along < 1 && along > 0.97 && Math.abs(across) < 0.02);
});
