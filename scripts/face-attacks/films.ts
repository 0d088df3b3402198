import type { Picture } from "@assay/device/node/jpeg";
import type { Still } from "@assay/device/node/test-person";
import { personAt, resample } from "@assay/device/node/test-person";
import type { PosedPerson } from "@assay/emrtd/node/test-country/portraits";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import { encode } from "jpeg-js";
import type { TakenFrame } from "../../apps/server/src/verification/face/face-job.ts";

/** What is in front of the camera. `person` is the drawn person (bona fide), all others are attacks. */
export const kinds = ["person", "print", "tablet", "tinted", "mask"] as const;
export type Kind = (typeof kinds)[number];

/** Heads beyond the drawn poses of the test country: nearer ones in camera perspective, and masks. */
export type Rendered = (name: string) => Picture;
export const nearerDistances = [7, 4.5] as const;
export const nearerSizes = [1, 1.2, 1.4] as const;
export const maskYaws = [0, 27, -27] as const;
/** The child differs from the adult by little that matters here, and rendering takes long. */
export const filmed: readonly PosedPerson[] = ["adult", "elder"];
export function nearerName(person: PosedPerson, distance: number, size: number): string {
  return `${person} nearer ${distance} ${size}`;
}
export function maskName(person: PosedPerson, yaw: number): string {
  return `${person} mask ${yaw}`;
}

export const challenge: Challenge = {
  movements: ["come_closer", "turn_left", "look_up", "turn_right"],
  colours: ["red", "green", "blue", "white", "blue", "red", "green", "white"],
  colourMs: 900,
  deadlineMs: 45_000,
};
const straight: Still = { pose: [0, 0], zoom: 1 };
const turn = (yaw: number, pitch = 0): Still => ({ pose: [yaw, pitch], zoom: 1 });
const nearer = (zoom: number): Still => ({ pose: [0, 0], zoom });
/**
 * Typical movements with as few looks as the signals need,
 * because each costs about a second on a busy machine.
 */
const stills: readonly Still[] = [
  ...[straight, straight, straight, nearer(1.2), nearer(1.4), nearer(1.4), nearer(1.4), straight],
  ...[
    turn(27),
    turn(27),
    straight,
    turn(0, 8),
    turn(0, 16),
    straight,
    turn(-27),
    turn(-27),
    straight,
    straight,
  ],
];
/** Slower than a page takes them, so that few frames see every colour, each at another moment of it. */
const frameMs = 410;

/** Numbers of a film: the same seed gives the same film. */
export function seeded(seed: number): () => number {
  let state = (seed * 2_654_435_761) % 4_294_967_296;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

/** How the film is taken: differences of cameras and hands. All ranges were set by hand. */
function conditionsOf(random: () => number) {
  const between = (from: number, to: number) => from + random() * (to - from);
  return {
    noise: between(1, 4),
    gain: between(0.6, 1.1),
    reflection: between(0.02, 0.08),
    surrounding: between(0.1, 0.5),
    lagMs: between(0, 200),
    quality: Math.round(between(70, 92)),
    tremble: between(0.003, 0.02),
    distance: nearerDistances[Math.floor(random() * nearerDistances.length)] ?? 7,
    // Of a filmed screen.
    waves: [between(12, 30), between(12, 30)] as const,
    moire: between(0.01, 0.06),
    bands: between(8, 24),
    banding: between(0.01, 0.06),
    tintLagMs: between(0, 600),
  };
}
type Conditions = ReturnType<typeof conditionsOf>;

export function filmOf(kind: Kind, seed: number, rendered: Rendered): TakenFrame[] {
  const random = seeded(seed * 7 + kinds.indexOf(kind));
  const person = filmed[seed % filmed.length] ?? "adult";
  const conditions = conditionsOf(random);
  return stills.map((still, index) => {
    const atMs = (index + 1) * frameMs;
    const seen = held(subjectOf(kind, person, still, conditions, rendered), still, kind, conditions, random);
    const lit = litBy(seen, kind, conditions, atMs, random);
    return { atMs, receivedAtMs: atMs + 120, jpeg: jpegOf(lit, conditions.quality) };
  });
}

function subjectOf(
  kind: Kind,
  person: PosedPerson,
  still: Still,
  { distance }: Conditions,
  rendered: Rendered,
): Picture {
  // A print shows one look, whatever is asked.
  if (kind === "print") return personAt(person, straight);
  const [yaw, pitch] = still.pose;
  if (kind === "mask" && pitch === 0) return rendered(maskName(person, Math.sign(yaw) * 27));
  if (yaw === 0 && pitch === 0) return rendered(nearerName(person, distance, still.zoom));
  return personAt(person, still);
}

/** A hand trembles; and who holds a thing brings the whole of it closer. */
function held(
  picture: Picture,
  still: Still,
  kind: Kind,
  { tremble }: Conditions,
  random: () => number,
): Picture {
  const flat = kind === "print" || kind === "mask" ? still.zoom : 1;
  const [dx, dy] = [(random() - 0.5) * 2 * tremble, (random() - 0.5) * 2 * tremble];
  const angle = (random() - 0.5) * 4 * tremble;
  const zoom = flat * (1 + (random() - 0.5) * tremble);
  // A flat thing is never held quite upright.
  const lean = kind === "print" || kind === "tablet" ? (random() - 0.5) * 0.12 : 0;
  return resample(picture, (x, y) => {
    const deep = 1 + lean * x;
    const [u, v] = [(x * deep) / zoom, (y * deep) / zoom];
    return [u * Math.cos(angle) - v * Math.sin(angle) + dx, u * Math.sin(angle) + v * Math.cos(angle) + dy];
  });
}

const isWall = (red: number, green: number, blue: number) =>
  Math.max(red, green, blue) - Math.min(red, green, blue) < 14 && green > 170;

/** Adds the light of room and screen, the pixels of a filmed screen if there is one, and camera noise. */
function litBy(
  picture: Picture,
  kind: Kind,
  conditions: Conditions,
  atMs: number,
  random: () => number,
): Picture {
  const { noise, gain, reflection, surrounding, lagMs, tintLagMs } = conditions;
  const { width, height, data: source } = picture;
  const data = new Uint8Array(source.length);
  const colour =
    screenLight[colourAt(challenge, Math.max(0, atMs - (kind === "tinted" ? tintLagMs : lagMs)))];
  // A screen emits light, so it hardly reflects the light in front of it.
  const strength = kind === "tablet" ? reflection * 0.1 : reflection;
  const around = kind === "tinted" ? 1 : kind === "tablet" ? 0.1 : surrounding;
  const phase = random() * 2 * Math.PI;
  const gains = [1, around].map((share) =>
    colour.map((on) => gain * (1 + on * strength * share) ** (1 / 2.2)),
  );
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const at = (row * width + column) * 3;
      const [red, green, blue] = [source[at] ?? 0, source[at + 1] ?? 0, source[at + 2] ?? 0];
      const lit = gains[isWall(red, green, blue) ? 1 : 0] ?? [];
      const screen = kind === "tablet" ? screenAt(column / width, row / width, phase, conditions) : 1;
      for (const [channel, value] of [red, green, blue].entries()) {
        const grain = (random() + random() + random() - 1.5) * 2 * noise;
        data[at + channel] = Math.min(
          Math.max(Math.round(value * (lit[channel] ?? 1) * screen + grain), 0),
          255,
        );
      }
    }
  return { width, height, data };
}

/**
 * The pixels of a screen interfere with those of the camera (moiré),
 * and a rolling refresh shows moving bands.
 */
function screenAt(
  x: number,
  y: number,
  phase: number,
  { waves: [across, down], moire, bands, banding }: Conditions,
): number {
  return (
    1 +
    moire * Math.sin(2 * Math.PI * (across * x + down * y)) +
    banding * Math.sin(2 * Math.PI * bands * y + phase)
  );
}

function jpegOf({ width, height, data }: Picture, quality: number): Uint8Array {
  const rgba = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < data.length; from += 3, to += 4)
    rgba.set(data.subarray(from, from + 3), to);
  return new Uint8Array(encode({ data: rgba, width, height }, quality).data);
}
