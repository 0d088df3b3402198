import type { Box, FaceOpenings, HeadPose } from "./measurement.ts";

/**
 * The training format of the mesh network (MediaPipe Face Mesh): pictures of this side, points in this order.
 */
export const meshInputPixels = 192;
/** Margin around the face, from the authors' example. No other value was tried. */
const meshMargin = 1.5;
/**
 * Smallest confidence of the mesh that there is a face, from 0 to 1. Set by hand. Below it the service
 * measures no pose, and the page asks for the face again. No answer reaches 1.
 */
export const meshLeastConfidence = 0.5;
/** Both sides of the face at the height of the ears, its upper end and the chin. */
const meshPoints = { count: 468, right: 234, left: 454, top: 10, chin: 152 } as const;
/** Corners, then lids or lips, upper and lower. */
const openingPoints = {
  rightEye: [33, 133, 159, 145],
  leftEye: [263, 362, 386, 374],
  mouth: [78, 308, 13, 14],
} as const;

/**
 * Points fixed to the skull, at different depths: tip and bridge of the nose, corners of eyes and mouth,
 * cheeks, sides, forehead, chin.
 */
const shapePoints = [
  1, 4, 168, 6, 33, 133, 263, 362, 61, 291, 50, 280, 234, 454, 127, 356, 10, 152, 172, 397,
];
/**
 * Share of points that count as brightest. Set by hand.
 * Lower: single pixels decide. Higher: half the face is bright.
 */
const brightestShare = 0.06;

/** A square of the picture by its middle, in pixels. It may reach beyond the picture. */
export type Square = { readonly x: number; readonly y: number; readonly side: number };

/** The mesh's input for a face in this box. */
export function squareAround({ x, y, width, height }: Box): Square {
  return { x: x + width / 2, y: y + height / 2, side: Math.max(width, height) * meshMargin };
}

/**
 * The extent of the face in the picture.
 * `points`: the network's output for this square, three values per point.
 */
export function extentOf(points: ArrayLike<number>, around: Square): Box {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let index = 0; index < meshPoints.count; index++) {
    const [x, y] = [points[index * 3] ?? 0, points[index * 3 + 1] ?? 0];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  const scale = around.side / meshInputPixels;
  return {
    x: around.x - around.side / 2 + left * scale,
    y: around.y - around.side / 2 + top * scale,
    width: (right - left) * scale,
    height: (bottom - top) * scale,
  };
}

type Vector = readonly [x: number, y: number, z: number];

/**
 * The head pose, from the line between the ears and the one from forehead to chin. Their length in three
 * dimensions does not change when the head turns, so the size shows the distance. In pixels of the picture.
 */
export function poseOf(points: ArrayLike<number>, around: Square): HeadPose {
  const at = (index: number): Vector => [
    points[index * 3] ?? 0,
    points[index * 3 + 1] ?? 0,
    points[index * 3 + 2] ?? 0,
  ];
  const between = (from: Vector, to: Vector): Vector => [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const degrees = (y: number, x: number) => (Math.atan2(y, x) * 180) / Math.PI;
  const across = between(at(meshPoints.right), at(meshPoints.left));
  const down = between(at(meshPoints.top), at(meshPoints.chin));
  return {
    yaw: degrees(across[2], across[0]),
    pitch: -degrees(down[2], down[1]),
    roll: degrees(across[1], across[0]),
    size: (Math.hypot(...down) * around.side) / meshInputPixels,
  };
}

/** How far eyes and mouth are open, whatever the distance to the camera. */
export function openingsOf(points: ArrayLike<number>): FaceOpenings {
  const at = (index: number): Vector => [
    points[index * 3] ?? 0,
    points[index * 3 + 1] ?? 0,
    points[index * 3 + 2] ?? 0,
  ];
  const apart = (one: number, other: number) => {
    const [a, b] = [at(one), at(other)];
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  };
  const open = ([corner, other, upper, lower]: readonly [number, number, number, number]) =>
    apart(upper, lower) / Math.max(apart(corner, other), 1e-6);
  return {
    eyes: (open(openingPoints.rightEye) + open(openingPoints.leftEye)) / 2,
    mouth: open(openingPoints.mouth),
  };
}

/** Points that distinguish a flat object from a head, in pixels of the picture. */
export function shapeOf(points: ArrayLike<number>, around: Square): readonly (readonly [number, number])[] {
  const scale = around.side / meshInputPixels;
  return shapePoints.map((index) => [
    around.x - around.side / 2 + (points[index * 3] ?? 0) * scale,
    around.y - around.side / 2 + (points[index * 3 + 1] ?? 0) * scale,
  ]);
}

/**
 * The position of the brightest points across the face, as if it looked straight ahead, in heights of the
 * face. `lightAt`: brightness of the picture at a pixel; null outside.
 */
export function highlightOf(
  points: ArrayLike<number>,
  around: Square,
  { yaw, size }: HeadPose,
  lightAt: (x: number, y: number) => number | null,
): number | null {
  const scale = around.side / meshInputPixels;
  const turn = (yaw * Math.PI) / 180;
  const [right, left] = [meshPoints.right * 3, meshPoints.left * 3];
  const middle = (axis: number) => ((points[right + axis] ?? 0) + (points[left + axis] ?? 0)) / 2;
  const [middleX, middleZ] = [middle(0), middle(2)];
  const seen: { across: number; light: number }[] = [];
  for (let index = 0; index < meshPoints.count; index++) {
    const [x, y, z] = [points[index * 3] ?? 0, points[index * 3 + 1] ?? 0, points[index * 3 + 2] ?? 0];
    const light = lightAt(around.x - around.side / 2 + x * scale, around.y - around.side / 2 + y * scale);
    if (light === null) continue;
    const across = (x - middleX) * Math.cos(turn) + (z - middleZ) * Math.sin(turn);
    seen.push({ across: (across * scale) / size, light });
  }
  if (seen.length < meshPoints.count / 2) return null;
  const brightest = seen.sort((a, b) => b.light - a.light).slice(0, Math.ceil(seen.length * brightestShare));
  return brightest.reduce((sum, { across }) => sum + across, 0) / brightest.length;
}
