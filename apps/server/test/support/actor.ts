import { isDeepStrictEqual } from "node:util";
import { type FaceColour, type FaceMovement, turningMovements } from "@assay/contract/verify-protocol";
import { personAt, type Still } from "@assay/device/node/test-person";
import type { PosedPerson } from "@assay/emrtd/node/test-country/portraits";
import { screenLight } from "@assay/face/colour-schedule";
import type { RgbPicture, SteeredCamera } from "./steered-camera.ts";

type Camera = Pick<SteeredCamera, "width" | "height" | "show">;
/** Of whichever browser. */
type Page = { evaluate<T>(script: string): Promise<T> };

export type Role = {
  readonly person: PosedPerson;
  /** The movements they may be asked for; by default all that turn the head. */
  readonly among?: readonly FaceMovement[];
  /** What they do when the page asks for a movement; by default what is asked. */
  readonly does?: (asked: FaceMovement) => FaceMovement | "nothing";
};

/** Plays a role before the camera and at the page, as long as `scene` lasts. */
export async function perform<T>(
  camera: Camera,
  page: Page,
  role: Role,
  scene: () => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  rehearse(camera, role);
  camera.show(lit(sceneOf(camera, role, straight), null));
  const playing = play(camera, page, role, stop.signal);
  try {
    return await scene();
  } finally {
    stop.abort();
    await playing;
  }
}

/** About the reaction time of a person who waits for the next instruction. */
const reactionMs = 300;
/** With the steps below, the head turns as fast as that of a person in a hurry. */
const stepMs = 100;

/** Draws the heads in advance, because a busy machine could be too late for the instruction. */
function rehearse(camera: Camera, role: Role): void {
  for (const movement of role.among ?? turningMovements) {
    let head = straight;
    while (!isDeepStrictEqual(head, goals[movement])) {
      head = towards(head, goals[movement]);
      sceneOf(camera, role, head);
    }
  }
}

async function play(camera: Camera, page: Page, role: Role, stop: AbortSignal): Promise<void> {
  const { does = (asked: FaceMovement) => asked } = role;
  let read: string | null = null;
  let readAt = performance.now();
  let goal = straight;
  let head = straight;
  while (!stop.aborted) {
    const started = performance.now();
    const screen = await look(page);
    if (screen.prompt !== read) {
      read = screen.prompt;
      readAt = started;
    }
    if (started - readAt >= reactionMs) {
      const movement = isMovement(read) ? does(read) : "nothing";
      goal = movement === "nothing" ? straight : goals[movement];
    }
    head = towards(head, goal);
    camera.show(lit(sceneOf(camera, role, head), isColour(screen.colour) ? screen.colour : null));
    await new Promise((resolve) => setTimeout(resolve, Math.max(started + stepMs - performance.now(), 0)));
  }
}

type Screen = {
  readonly prompt: string | null;
  readonly colour: string | null;
};

/** Runs in the browser, whose globals the server's types lack. */
const lookScript = `({
  prompt: document.querySelector("[data-testid=face-instruction]")?.getAttribute("data-prompt") ?? null,
  colour: document.querySelector("[data-testid=face-colour]")?.getAttribute("data-colour") ?? null,
})`;

async function look(page: Page): Promise<Screen> {
  try {
    return await page.evaluate<Screen>(lookScript);
  } catch {
    // Between two pages there is nothing to see.
    return { prompt: null, colour: null };
  }
}

function isMovement(prompt: string | null): prompt is FaceMovement {
  return prompt !== null && Object.hasOwn(goals, prompt);
}

function isColour(colour: string | null): colour is FaceColour {
  return colour !== null && Object.hasOwn(screenLight, colour);
}

// --- the head ----------------------------------------------------------------------------------------------

/**
 * Yaw and pitch in degrees to the person's left and upwards, the zoom, and how far eyes are closed and the
 * mouth is open. Only one differs from looking straight ahead.
 */
type Head = {
  readonly yaw: number;
  readonly pitch: number;
  readonly zoom: number;
  readonly eyes: number;
  readonly mouth: number;
};

const straight: Head = { yaw: 0, pitch: 0, zoom: 1, eyes: 0, mouth: 0 };
const goals: Readonly<Record<FaceMovement, Head>> = {
  turn_left: { ...straight, yaw: 27 },
  turn_right: { ...straight, yaw: -27 },
  look_up: { ...straight, pitch: 16 },
  come_closer: { ...straight, zoom: 1.4 },
  close_eyes: { ...straight, eyes: 1 },
  open_mouth: { ...straight, mouth: 1 },
};
/** Step between the drawn heads, in degrees. */
const yawStep = 9;
const pitchStep = 8;
const zoomStep = 0.1;
/** Eyes close at once, not slowly. */
const expressionStep = 1;

function towards(head: Head, goal: Head): Head {
  // Every movement goes through looking straight ahead, so no head is drawn turned and looking up.
  const next = isOnTheWay(head, goal) ? goal : straight;
  return {
    yaw: approach(head.yaw, next.yaw, yawStep),
    pitch: approach(head.pitch, next.pitch, pitchStep),
    zoom: approach(head.zoom, next.zoom, zoomStep),
    eyes: approach(head.eyes, next.eyes, expressionStep),
    mouth: approach(head.mouth, next.mouth, expressionStep),
  };
}

function isOnTheWay(head: Head, goal: Head): boolean {
  return (
    (head.yaw === 0 || goal.yaw !== 0) &&
    (head.pitch === 0 || goal.pitch !== 0) &&
    (head.zoom === 1 || goal.zoom !== 1) &&
    (head.eyes === 0 || goal.eyes !== 0) &&
    (head.mouth === 0 || goal.mouth !== 0)
  );
}

function approach(from: number, to: number, step: number): number {
  return Math.abs(to - from) <= step * 1.01 ? to : from + Math.sign(to - from) * step;
}

// --- the picture -------------------------------------------------------------------------------------------

/** In the drawn pictures. */
const faceAt = { x: 120, y: 170 } as const;
const wall = [199, 200, 203] as const;

const scenes = new Map<string, RgbPicture>();

/** The face is in the middle, and nearly half as high as the picture. */
function sceneOf({ width, height }: Camera, { person }: Role, head: Head): RgbPicture {
  const key = JSON.stringify([person, head]);
  const known = scenes.get(key);
  if (known !== undefined) return known;
  const data = new Uint8Array(width * height * 3);
  for (let at = 0; at < data.length; at += 3) data.set(wall, at);
  const drawn = personAt(person, stillOf(head));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const left = faceAt.x + (x - 0.5 * width) / head.zoom;
      const top = faceAt.y + (y - 0.5 * height) / head.zoom;
      if (left >= 0 && left <= drawn.width - 1 && top >= 0)
        copyPixel(drawn, left, Math.min(top, drawn.height - 1), data, (y * width + x) * 3);
    }
  }
  const picture = { width, height, data };
  scenes.set(key, picture);
  return picture;
}

function stillOf({ yaw, pitch, eyes, mouth }: Head): Still {
  const still: Still = { pose: [yaw, pitch], zoom: 1 };
  if (eyes > 0) return { ...still, expression: "closed_eyes" };
  return mouth > 0 ? { ...still, expression: "open_mouth" } : still;
}

function isWall(red: number, green: number, blue: number): boolean {
  return green > 170 && Math.max(red, green, blue) - Math.min(red, green, blue) < 14;
}

function copyPixel(from: RgbPicture, left: number, top: number, to: Uint8Array, at: number): void {
  const [x, y] = [Math.min(Math.floor(left), from.width - 2), Math.min(Math.floor(top), from.height - 2)];
  const [u, v] = [left - x, top - y];
  const row = from.width * 3;
  const here = y * row + x * 3;
  // The wall behind the person is the one that the scene was painted with.
  if (isWall(from.data[here] ?? 0, from.data[here + 1] ?? 0, from.data[here + 2] ?? 0)) return;
  for (let channel = here; channel < here + 3; channel++) {
    const above = (from.data[channel] ?? 0) * (1 - u) + (from.data[channel + 3] ?? 0) * u;
    const below = (from.data[channel + row] ?? 0) * (1 - u) + (from.data[channel + row + 3] ?? 0) * u;
    to[at + channel - here] = Math.round(above * (1 - v) + below * v);
  }
}

const reflectionShare = 0.07;
/** The wall is further from the screen than the face. */
const wallShare = 0.2;
const noiseLevels = 4;

/** In the light of the room and of the screen, with the noise of a camera. */
function lit(picture: RgbPicture, colour: FaceColour | null): RgbPicture {
  const [red = 0, green = 0, blue = 0] = colour === null ? [] : screenLight[colour];
  const gainsAt = (share: number) => {
    const gain = (on: number) => (1 + on * reflectionShare * share) ** (1 / 2.2);
    return { red: gain(red), green: gain(green), blue: gain(blue) };
  };
  const [person, wall] = [gainsAt(1), gainsAt(wallShare)];
  const { width, height, data: source } = picture;
  const data = new Uint8ClampedArray(source.length);
  let grain = Math.floor(Math.random() * 65_536);
  for (let at = 0; at < source.length; at += 3) {
    const [r, g, b] = [source[at] ?? 0, source[at + 1] ?? 0, source[at + 2] ?? 0];
    const gains = isWall(r, g, b) ? wall : person;
    // A sequence of all numbers of sixteen bits, mixed well enough for the eye.
    grain = (grain * 20_077 + 12_345) & 65_535;
    const noise = ((grain >> 4) / 4_095 - 0.5) * noiseLevels;
    data[at] = r * gains.red + noise;
    data[at + 1] = g * gains.green + noise;
    data[at + 2] = b * gains.blue + noise;
  }
  return { width, height, data: new Uint8Array(data.buffer) };
}
