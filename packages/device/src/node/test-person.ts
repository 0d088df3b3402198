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

const decoded = new Map<string, Picture>();

function poseOf(person: PosedPerson, pose: Pose, expression?: ExpressionName): Picture {
  const key = `${person} ${expression ?? pose}`;
  const known = decoded.get(key);
  if (known !== undefined) return known;
  const bytes = expression === undefined ? readPose(person, pose) : readExpression(person, expression);
  const picture = decodeJpeg(bytes);
  decoded.set(key, picture);
  return picture;
}

/** The person as they were drawn, as on their portrait, in this pose and at this distance. */
export function drawnAt(person: PosedPerson, { pose, zoom, expression }: Still): Picture {
  const picture = poseOf(person, pose, expression);
  if (zoom === 1) return picture;
  return resample(picture, (x, y) => [x / zoom, y / zoom]);
}

/** The person in front of the camera, in this pose and at this distance. */
export function personAt(person: PosedPerson, { pose, zoom, expression }: Still): Picture {
  const key = `${person} ${expression ?? pose} since`;
  const picture = decoded.get(key) ?? sincePortrait(poseOf(person, pose, expression));
  decoded.set(key, picture);
  return zoom === 1 ? picture : resample(picture, (x, y) => [x / zoom, y / zoom]);
}

/**
 * A camera picture identical to the portrait counts as a copy (`portrait_copied`). So drawn people have a
 * shorter jaw than on their portrait: less of it and they count as copies, more and they no longer match.
 */
function sincePortrait(picture: Picture): Picture {
  return resample(picture, (x, y) => [x, y + 0.13 * Math.exp(-(((y - 0.3) / 0.22) ** 2) - (x / 0.55) ** 4)]);
}

/** `from` maps a point to the source, in halves of the width from the middle. */
export function resample(
  source: Picture,
  from: (x: number, y: number) => readonly [number, number],
): Picture {
  const { width, height } = source;
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [x, y] = from((column - width / 2) / (width / 2), (row - height / 2) / (width / 2));
      const [sx, sy] = [
        Math.min(Math.max((x * width) / 2 + width / 2, 0), width - 1.001),
        Math.min(Math.max((y * width) / 2 + height / 2, 0), height - 1.001),
      ];
      const [left, top] = [Math.floor(sx), Math.floor(sy)];
      const [u, v] = [sx - left, sy - top];
      const at = (top * width + left) * 3;
      for (let channel = 0; channel < 3; channel++) {
        const here = at + channel;
        const above = (source.data[here] ?? 0) * (1 - u) + (source.data[here + 3] ?? 0) * u;
        const below =
          (source.data[here + width * 3] ?? 0) * (1 - u) + (source.data[here + width * 3 + 3] ?? 0) * u;
        data[(row * width + column) * 3 + channel] = Math.round(above * (1 - v) + below * v);
      }
    }
  }
  return { width, height, data };
}

/** Adds the light of the screen in linear light, more to the person than to the grey wall behind. */
function light(picture: Picture, colour: FaceColour, reflection: number, random: () => number): Picture {
  const { data: source } = picture;
  const data = new Uint8Array(source.length);
  const values = [1, surroundingShare].map((share) =>
    screenLight[colour].map((on) => {
      const gain = (1 + on * reflection * share) ** (1 / 2.2);
      return Float64Array.from({ length: 256 }, (_, value) => value * gain);
    }),
  );
  const grains = Float64Array.from(
    { length: 4096 },
    () => (random() + random() + random() - 1.5) * 2 * noise,
  );
  let grain = Math.floor(random() * grains.length);
  for (let at = 0; at < source.length; at += 3) {
    const red = source[at] ?? 0;
    const green = source[at + 1] ?? 0;
    const blue = source[at + 2] ?? 0;
    const wall = Math.max(red, green, blue) - Math.min(red, green, blue) < 14 && green > 170;
    const lit = values[wall ? 1 : 0];
    for (let channel = 0; channel < 3; channel++) {
      grain = (grain * 5 + 1) & 4095;
      const value = (lit?.[channel]?.[source[at + channel] ?? 0] ?? 0) + (grains[grain] ?? 0);
      data[at + channel] = Math.min(Math.max(Math.round(value), 0), 255);
    }
  }
  return { ...picture, data };
}
