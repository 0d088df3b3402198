import { setTimeout as delay } from "node:timers/promises";
import type { FaceColour, FaceMovement } from "@assay/contract/verify-protocol";
import { type Pose, type PosedPerson, readPose } from "@assay/emrtd/node/test-country/portraits";
import type { TestHolder } from "@assay/emrtd/virtual/test-document";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight as SCREEN_LIGHT } from "@assay/face/colour-schedule";
import { decode, encode } from "jpeg-js";
import type { JudgedFrame } from "../face/face-judge.ts";
import type { CameraSource } from "./simulate.ts";

interface Still {
  readonly pose: Pose;
  readonly zoom: number;
}

interface Rgb {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export interface FilmOptions {
  readonly person?: PosedPerson;
  /** What the head does; by default what is asked. */
  readonly movements?: readonly FaceMovement[];
  readonly frameMs?: number;
  /** How much the light of the screen adds to that of the room on the face; 0 is full daylight. */
  readonly reflection?: number;
  /** As a share of the face's. */
  readonly surroundingReflection?: number;
  /** The colours the screen shows when it is not this challenge's, as in a recording. */
  readonly lights?: Challenge;
  /** Takes the first one's place from this share of the frames on. */
  readonly stranger?: { readonly person: PosedPerson; readonly from: number };
  /** Somebody who looks at the camera beside them all the time. */
  readonly companion?: PosedPerson;
  /** Nothing but a print of the straight look, tilted by hand as far as the movement asks. */
  readonly print?: "held_still" | "tilted";
  /** Of a camera, as the standard deviation of a pixel's value. */
  readonly noise?: number;
}

const FRAME_MS = 200;
const STRAIGHT: Still = { pose: [0, 0], zoom: 1 };

function stillsOf(movement: FaceMovement): readonly Still[] {
  const turn = (yaw: number): Still => ({ pose: [yaw, 0], zoom: 1 });
  switch (movement) {
    case "turn_left":
      return [turn(18), turn(27), turn(18), STRAIGHT];
    case "turn_right":
      return [turn(-18), turn(-27), turn(-18), STRAIGHT];
    case "look_up":
      return [{ pose: [0, 8], zoom: 1 }, { pose: [0, 16], zoom: 1 }, { pose: [0, 16], zoom: 1 }, STRAIGHT];
    case "come_closer":
      return [
        { pose: [0, 0], zoom: 1.2 },
        { pose: [0, 0], zoom: 1.4 },
        { pose: [0, 0], zoom: 1.4 },
        { pose: [0, 0], zoom: 1.2 },
        STRAIGHT,
      ];
  }
}

/** The drawn person of a test document in front of a camera, in real time. */
export function testPersonCamera({ person, followsInstructions }: TestHolder): CameraSource {
  return async function* (asked) {
    const challenge: Challenge = {
      movements: asked.movements,
      colours: asked.colours,
      colourMs: asked.colour_ms,
      deadlineMs: asked.deadline_ms,
    };
    const film = filmFace(challenge, {
      person,
      reflection: 0.05,
      ...(followsInstructions ? {} : { print: "held_still" }),
    });
    const startedAtMs = performance.now();
    for (const { jpeg, atMs } of film) {
      await delay(Math.max(0, startedAtMs + atMs - performance.now()));
      yield { jpeg, atMs };
    }
  };
}

/** Frames as a device would send them while a drawn person does what is asked. */
export function filmFace(challenge: Challenge, options: FilmOptions = {}): JudgedFrame[] {
  const { person = "adult", movements = challenge.movements, frameMs = FRAME_MS, reflection = 0 } = options;
  const stills = [STRAIGHT, STRAIGHT, STRAIGHT, ...movements.flatMap(stillsOf), STRAIGHT, STRAIGHT];
  // A camera has noise, different in every frame and the same in every run of a test.
  const random = seeded(7);
  return stills.map((still, index) => {
    const atMs = (index + 1) * frameMs;
    const swapped = options.stranger !== undefined && index >= options.stranger.from * stills.length;
    const who = swapped ? (options.stranger?.person ?? person) : person;
    let picture = options.print === undefined ? straight(who, still) : print(who, still, options.print);
    if (options.companion !== undefined) picture = beside(picture, straight(options.companion, STRAIGHT));
    const lit = light(picture, {
      colour: colourAt(options.lights ?? challenge, atMs),
      reflection,
      surroundingShare: options.surroundingReflection ?? 0.2,
      noise: options.noise ?? 2,
      random,
    });
    const rgba = new Uint8Array(lit.width * lit.height * 4).fill(255);
    for (let from = 0, to = 0; from < lit.data.length; from += 3, to += 4) {
      rgba[to] = lit.data[from] ?? 0;
      rgba[to + 1] = lit.data[from + 1] ?? 0;
      rgba[to + 2] = lit.data[from + 2] ?? 0;
    }
    return {
      atMs,
      receivedAtMs: atMs + 300,
      jpeg: new Uint8Array(encode({ data: rgba, width: lit.width, height: lit.height }, 85).data),
    };
  });
}

export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const decoded = new Map<string, Rgb>();

function poseOf(person: PosedPerson, pose: Pose): Rgb {
  const key = `${person} ${pose}`;
  const known = decoded.get(key);
  if (known !== undefined) return known;
  const { width, height, data } = decode(readPose(person, pose), { useTArray: true, formatAsRGBA: false });
  const picture = { width, height, data };
  decoded.set(key, picture);
  return picture;
}

function straight(person: PosedPerson, { pose, zoom }: Still): Rgb {
  const picture = poseOf(person, pose);
  if (zoom === 1) return picture;
  return resample(picture, (x, y) => [x / zoom, y / zoom]);
}

/** A print turned about its middle by twice the angle of the head, two of its widths away from the camera. */
function print(person: PosedPerson, { pose: [yaw, pitch], zoom }: Still, how: "held_still" | "tilted"): Rgb {
  const picture = poseOf(person, [0, 0]);
  if (how === "held_still") return picture;
  return resample(picture, (x, y) => {
    const [x1, y1] = tiltedBack(x / zoom, y / zoom, (2 * yaw * Math.PI) / 180);
    const [y2, x2] = tiltedBack(y1, x1, (2 * pitch * Math.PI) / 180);
    return [x2, y2];
  });
}

const PRINT_DISTANCE = 4;

/** Where on a sheet that is turned about its second axis a point of the picture lies. */
function tiltedBack(across: number, along: number, angle: number): readonly [number, number] {
  const onSheet = (across * PRINT_DISTANCE) / (PRINT_DISTANCE * Math.cos(angle) - across * Math.sin(angle));
  return [onSheet, (along * (PRINT_DISTANCE + onSheet * Math.sin(angle))) / PRINT_DISTANCE];
}

/** `from` tells, in halves of the width from the middle, which point of the source is seen. */
function resample(source: Rgb, from: (x: number, y: number) => readonly [number, number]): Rgb {
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

function beside(left: Rgb, right: Rgb): Rgb {
  const width = left.width + right.width;
  const data = new Uint8Array(width * left.height * 3);
  for (let row = 0; row < left.height; row++) {
    data.set(left.data.subarray(row * left.width * 3, (row + 1) * left.width * 3), row * width * 3);
    data.set(
      right.data.subarray(row * right.width * 3, (row + 1) * right.width * 3),
      (row * width + left.width) * 3,
    );
  }
  return { width, height: left.height, data };
}

/** Adds the light of the screen in linear light, more to the person than to the grey wall behind. */
function light(
  picture: Rgb,
  how: {
    readonly colour: FaceColour;
    readonly reflection: number;
    readonly surroundingShare: number;
    readonly noise: number;
    readonly random: () => number;
  },
): Rgb {
  const { data: source } = picture;
  const data = new Uint8Array(source.length);
  const values = [1, how.surroundingShare].map((share) =>
    SCREEN_LIGHT[how.colour].map((on) => {
      const gain = (1 + on * how.reflection * share) ** (1 / 2.2);
      return Float64Array.from({ length: 256 }, (_, value) => value * gain);
    }),
  );
  const noise = Float64Array.from(
    { length: 4096 },
    () => (how.random() + how.random() + how.random() - 1.5) * 2 * how.noise,
  );
  let grain = Math.floor(how.random() * noise.length);
  for (let at = 0; at < source.length; at += 3) {
    const red = source[at] ?? 0;
    const green = source[at + 1] ?? 0;
    const blue = source[at + 2] ?? 0;
    const wall = Math.max(red, green, blue) - Math.min(red, green, blue) < 14 && green > 170;
    const lit = values[wall ? 1 : 0];
    for (let channel = 0; channel < 3; channel++) {
      grain = (grain * 5 + 1) & 4095;
      const value = (lit?.[channel]?.[source[at + channel] ?? 0] ?? 0) + (noise[grain] ?? 0);
      data[at + channel] = Math.min(Math.max(Math.round(value), 0), 255);
    }
  }
  return { ...picture, data };
}
