import { readFileSync } from "node:fs";
import type { TestHolder } from "../../virtual/test-document.ts";

/** Drawn by `drawing/render-portrait.ts` of this package; no real person. */
export type PortraitName = "adult.jpg" | "elder.jpg" | "child.jpg" | "elder.jp2";

export type PosedPerson = TestHolder["person"];
export const posedPeople: readonly PosedPerson[] = ["adult", "elder", "child"];

/** Degrees to the person's own left, and upwards. */
export type Pose = readonly [yaw: number, pitch: number];

/** The heads that were drawn turned, so that a camera can be shown one that moves. */
export const poses: readonly Pose[] = [
  [0, 0],
  [9, 0],
  [18, 0],
  [27, 0],
  [-9, 0],
  [-18, 0],
  [-27, 0],
  [0, 8],
  [0, 16],
];

/** The faces that were drawn straight ahead with something other than a calm look. */
export const expressions = {
  half_closed_eyes: { closedEyes: 0.6, openMouth: 0 },
  closed_eyes: { closedEyes: 1, openMouth: 0 },
  half_open_mouth: { closedEyes: 0, openMouth: 0.5 },
  open_mouth: { closedEyes: 0, openMouth: 1 },
} as const;
export type ExpressionName = keyof typeof expressions;

const pictures = new Map<string, Uint8Array>();

function read(file: string): Uint8Array {
  const known = pictures.get(file);
  if (known !== undefined) return known;
  const bytes = new Uint8Array(readFileSync(new URL(`./pictures/${file}`, import.meta.url)));
  pictures.set(file, bytes);
  return bytes;
}

export function readPortrait(name: PortraitName): Uint8Array {
  return read(name);
}

/** A JPEG of 240 by 320 pixels; the pose is one of `poses`. */
export function readPose(person: PosedPerson, [yaw, pitch]: Pose): Uint8Array {
  return read(`poses/${person}_${yaw}_${pitch}.jpg`);
}

/** A JPEG of 240 by 320 pixels. */
export function readExpression(person: PosedPerson, name: ExpressionName): Uint8Array {
  return read(`poses/${person}_${name}.jpg`);
}
