import { setTimeout as delay } from "node:timers/promises";
import type { FaceColour, FaceMovement } from "@assay/contract/verify-protocol";
import {
  type ExpressionName,
  type Pose,
  type PosedPerson,
  readExpression,
  readPose,
} from "@assay/emrtd/node/test-country/portraits";
import type { TestHolder } from "@assay/emrtd/virtual/test-document";
import { type ColourSchedule, colourAt, screenLight } from "@assay/face/colour-schedule";
import type { CameraSource } from "../run-device.ts";
import { decodeJpeg, encodeJpeg, type Picture } from "./jpeg.ts";

/** The head pose in one frame. */
export type Still = { readonly pose: Pose; readonly zoom: number; readonly expression?: ExpressionName };
type Frame = { readonly jpeg: Uint8Array; readonly atMs: number };

type FilmLight = {
  /** The colours that the screen shows during the film. */
  readonly schedule: ColourSchedule;
  /** How much the screen's light adds to the room's on the face; 0 is full daylight. */
  readonly reflection: number;
};

/**
 * Fast enough to show every movement, slow enough that a whole film stays under the service's frame limit.
 */
const frameMs = 200;
/** Light of the screen on the wall behind, which is farther away, as a share of that on the face. */
const surroundingShare = 0.2;
/** The noise of a camera, as the standard deviation of a pixel's value. */
const noise = 2;
const straight: Still = { pose: [0, 0], zoom: 1 };

/** The drawn person of a test document in front of a camera, in real time. */
export function testPersonCamera({ person, followsInstructions }: TestHolder): CameraSource {
  return async function* (challenge) {
    const stills = stillsFor(challenge.movements);
    // A person who ignores the instructions holds still, and so does a printed photograph.
    const pictures = stills.map((still) => personAt(person, followsInstructions ? still : straight));
    const startedAtMs = performance.now();
    for (const { jpeg, atMs } of film(pictures, { schedule: challenge, reflection: 0.05 })) {
      await delay(Math.max(0, startedAtMs + atMs - performance.now()));
      yield { jpeg, atMs };
    }
  };
}

/** The head poses for these movements. */
export function stillsFor(movements: readonly FaceMovement[]): readonly Still[] {
  return [straight, straight, straight, ...movements.flatMap(stillsOf), straight, straight];
}

function stillsOf(movement: FaceMovement): readonly Still[] {
  const turn = (yaw: number): Still => ({ pose: [yaw, 0], zoom: 1 });
  const closer = (zoom: number): Still => ({ pose: [0, 0], zoom });
  const face = (expression: ExpressionName): Still => ({ ...straight, expression });
  switch (movement) {
    case "turn_left":
      return [turn(18), turn(27), turn(18), straight];
    case "turn_right":
      return [turn(-18), turn(-27), turn(-18), straight];
    case "look_up":
      return [{ pose: [0, 8], zoom: 1 }, { pose: [0, 16], zoom: 1 }, { pose: [0, 16], zoom: 1 }, straight];
    case "come_closer":
      return [closer(1.2), closer(1.4), closer(1.4), closer(1.2), straight];
    case "close_eyes":
      return [
        face("half_closed_eyes"),
        face("closed_eyes"),
        face("closed_eyes"),
        face("closed_eyes"),
        face("half_closed_eyes"),
        straight,
      ];
    case "open_mouth":
      return [
        face("half_open_mouth"),
        face("open_mouth"),
        face("open_mouth"),
        face("half_open_mouth"),
        straight,
      ];
  }
}

/** The pictures as a device would send them, in the changing light of its screen. */
export function film(pictures: readonly Picture[], { schedule, reflection }: FilmLight): Frame[] {
  // A camera has noise, different in every frame and the same in every run.
  const random = seeded(7);
  return pictures.map((picture, index) => {
    const atMs = (index + 1) * frameMs;
    return { atMs, jpeg: encodeJpeg(light(picture, colourAt(schedule, atMs), reflection, random), 85) };
  });
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const drawn = new Map<string, Picture>();

/** The person in front of the camera, in this pose and at this distance. */
export function personAt(person: PosedPerson, { pose, zoom, expression }: Still): Picture {
  const key = `${person} ${expression ?? pose}`;
  const picture = drawn.get(key) ?? poseOf(person, pose, expression);
  drawn.set(key, picture);
  return zoom === 1 ? picture : resample(picture, (x, y) => [x / zoom, y / zoom]);
}

function poseOf(person: PosedPerson, pose: Pose, expression?: ExpressionName): Picture {
  const bytes = expression === undefined ? readPose(person, pose) : readExpression(person, expression);
  return sincePortrait(decodeJpeg(bytes));
}

/**
 * A camera picture identical to the portrait counts as a copy (`portrait_copied`). So drawn people have a
 * shorter jaw than on their portrait: less of it and they count as copies, more and they no longer match.
 */
function sincePortrait(picture: Picture): Picture {
  return resample(picture, (x, y) => [x, y + 0.13 * Math.exp(-(((y - 0.3) / 0.22) ** 2) - (x / 0.55) ** 4)]);
}

/** `sourceOf` maps a point to the source, in halves of the width from the middle. */
export function resample(
  { width, height, data: from }: Picture,
  sourceOf: (x: number, y: number) => readonly [number, number],
): Picture {
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = sourceOf((column - width / 2) / (width / 2), (row - height / 2) / (width / 2));
      const sx = Math.min(Math.max((x * width) / 2 + width / 2, 0), width - 1.001);
      const sy = Math.min(Math.max((y * width) / 2 + height / 2, 0), height - 1.001);
      const left = Math.floor(sx);
      const top = Math.floor(sy);
      const u = sx - left;
      const v = sy - top;
      const to = (row * width + column) * 3;
      for (let channel = 0, at = (top * width + left) * 3; channel < 3; channel++, at++) {
        const above = (from[at] ?? 0) * (1 - u) + (from[at + 3] ?? 0) * u;
        const below = (from[at + width * 3] ?? 0) * (1 - u) + (from[at + width * 3 + 3] ?? 0) * u;
        data[to + channel] = Math.round(above * (1 - v) + below * v);
      }
    }
  }
  return { width, height, data };
}

/** Adds the light of the screen in linear light, more to the person than to the grey wall behind. */
function light(picture: Picture, colour: FaceColour, reflection: number, random: () => number): Picture {
  const { data: source } = picture;
  const data = new Uint8ClampedArray(source.length);
  const gainsAt = (share: number) =>
    Float64Array.from(screenLight[colour], (on) => (1 + on * reflection * share) ** (1 / 2.2));
  const [person, wall] = [gainsAt(1), gainsAt(surroundingShare)];
  const grains = Float64Array.from(
    { length: 4096 },
    () => (random() + random() + random() - 1.5) * 2 * noise,
  );
  let grain = Math.floor(random() * grains.length);
  for (let at = 0; at < source.length; at += 3) {
    const red = source[at] ?? 0;
    const green = source[at + 1] ?? 0;
    const blue = source[at + 2] ?? 0;
    const isWall = Math.max(red, green, blue) - Math.min(red, green, blue) < 14 && green > 170;
    const gains = isWall ? wall : person;
    for (let channel = 0; channel < 3; channel++) {
      grain = (grain * 5 + 1) & 4095;
      data[at + channel] = (source[at + channel] ?? 0) * (gains[channel] ?? 1) + (grains[grain] ?? 0);
    }
  }
  return { ...picture, data: new Uint8Array(data.buffer) };
}
