import { encodeJpeg } from "@assay/device/node/jpeg";
import { type Still, stillsFor } from "@assay/device/node/test-person";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import type { Box } from "@assay/face/measurement";
import type { DecodedPicture } from "../../src/verification/face/decode-picture.ts";
import type { TakenFrame } from "../../src/verification/face/face-job.ts";

/** As the page sends them. */
const [width, height] = [360, 480];
const frameMs = 220;
/** Height of the face in a frame. */
const faceHeight = 190;

/** How a still is bent: half an ellipsoid over the face that turns like a head. */
export type Bend = {
  /** Degrees of a turn and of a look up: the network measures less than the ellipsoid turns. */
  readonly yaw: number;
  readonly pitch: number;
  readonly depth: number;
  /** Half of its width and height, in heights of the face: the face alone if left out, or the whole head. */
  readonly radius?: readonly [x: number, y: number];
};

/** For a bend that includes hair, ears and outline. */
export const wholeHead = [0.72, 0.92] as const;

/** The source of a point of the frame, in heights of the face from its middle, for the turned ellipsoid. */
function unbending({ pose: [yaw, pitch], zoom }: Still, bend: Bend) {
  const radians = Math.PI / 180;
  // In a camera the turn of a person grows; a program can show it from the first frame on.
  const [across, along] = [
    Math.sign(yaw) * Math.min(Math.abs(yaw) / 18, 1) * bend.yaw * radians,
    Math.min(pitch / 16, 1) * bend.pitch * radians,
  ];
  const [sinX, backX, sinY, backY] = [
    Math.sin(across),
    1 - Math.cos(across),
    Math.sin(along),
    1 - Math.cos(along),
  ];
  const [radiusX, radiusY] = bend.radius ?? [0.48, 0.64];
  return (x: number, y: number): readonly [number, number] => {
    const [toX, toY] = [x / zoom, y / zoom];
    let [fromX, fromY] = [toX, toY];
    // The depth is that of the point it comes from, which is found by a few steps.
    for (let step = 0; step < 8; step++) {
      const flat = 1 - (fromX / radiusX) ** 2 - (fromY / radiusY) ** 2;
      if (flat <= 0) return [fromX, fromY];
      const high = Math.sqrt(flat);
      const deep = high * radiusX * bend.depth;
      fromX = toX - deep * sinX + fromX * backX * high;
      fromY = toY + deep * sinY + fromY * backY * high;
    }
    return [fromX, fromY];
  };
}

/** The film that a program makes of one photograph, with the screen's colours over the face. */
export function filmOfBentStill(
  still: DecodedPicture,
  face: Box,
  challenge: Challenge,
  { bend, random, blur = 0 }: { readonly bend: Bend; readonly random: () => number; readonly blur?: number },
): TakenFrame[] {
  const looks = stillsFor(challenge.movements);
  const bent = new Map<string, Uint8Array>();
  return looks.map((look, index) => {
    const atMs = (index + 1) * frameMs;
    const tremble = [(random() - 0.5) * 4, (random() - 0.5) * 4] as const;
    const key = JSON.stringify([look, tremble]);
    const untinted = bent.get(key) ?? frameOf(still, face, look, { bend, tremble, blur });
    bent.set(key, untinted);
    const data = untinted.slice();
    tint(data, colourAt(challenge, atMs), random);
    return { atMs, receivedAtMs: atMs + 120, jpeg: encodeJpeg({ data, width, height }, 85) };
  });
}

function frameOf(
  { rgb, width: fullWidth, height: fullHeight }: DecodedPicture,
  face: Box,
  look: Still,
  { bend, tremble, blur }: { bend: Bend; tremble: readonly [number, number]; blur: number },
): Uint8Array {
  const data = new Uint8Array(width * height * 3);
  const from = unbending(look, bend);
  const scale = face.height / faceHeight;
  const [middleX, middleY] = [face.x + face.width / 2, face.y + face.height / 2];
  const taps = blur === 0 ? [[0, 0] as const] : around(blur * scale);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const x = (column - width / 2 + tremble[0]) / faceHeight;
      const y = (row - height / 2 + tremble[1]) / faceHeight;
      const [fromX, fromY] = from(x, y);
      draw(
        (row * width + column) * 3,
        fromX * faceHeight * scale + middleX,
        fromY * faceHeight * scale + middleY,
      );
    }
  return data;

  /** Interpolates between pixels, and averages over some if blurred. Beyond the edge, edge pixels repeat. */
  function draw(at: number, x: number, y: number): void {
    let [red, green, blue] = [0, 0, 0];
    for (const [across, down] of taps) {
      const atX = Math.min(Math.max(x + across, 0), fullWidth - 1.001);
      const atY = Math.min(Math.max(y + down, 0), fullHeight - 1.001);
      const left = Math.floor(atX);
      const top = Math.floor(atY);
      const u = atX - left;
      const v = atY - top;
      const upper = (top * fullWidth + left) * 3;
      const lower = upper + fullWidth * 3;
      red += between(upper, lower, u, v);
      green += between(upper + 1, lower + 1, u, v);
      blue += between(upper + 2, lower + 2, u, v);
    }
    data[at] = red / taps.length;
    data[at + 1] = green / taps.length;
    data[at + 2] = blue / taps.length;
  }

  function between(upper: number, lower: number, u: number, v: number): number {
    const above = (rgb[upper] ?? 0) * (1 - u) + (rgb[upper + 3] ?? 0) * u;
    return above * (1 - v) + ((rgb[lower] ?? 0) * (1 - u) + (rgb[lower + 3] ?? 0) * u) * v;
  }
}

/** A point and its eight neighbours at this distance. */
function around(distance: number): (readonly [across: number, down: number])[] {
  const steps = [-distance, 0, distance];
  return steps.flatMap((down) => steps.map((across) => [across, down] as const));
}

/** Adds the light of the screen, more to the face than behind it, and the noise of a camera. */
function tint(data: Uint8Array, colour: keyof typeof screenLight, random: () => number): void {
  const lightOf = (share: number) => screenLight[colour].map((on) => (1 + on * share) ** (1 / 2.2));
  const [onFace, behind] = [lightOf(0.05), lightOf(0.01)];
  for (let at = 0; at < data.length; at += 3) {
    const column = (at / 3) % width;
    const row = Math.floor(at / 3 / width);
    const light = ((column - width / 2) / 80) ** 2 + ((row - height / 2) / 105) ** 2 < 1 ? onFace : behind;
    for (let channel = 0; channel < 3; channel++) {
      const grain = (random() + random() + random() - 1.5) * 4;
      const lit = (data[at + channel] ?? 0) * (light[channel] ?? 1) + grain;
      data[at + channel] = Math.min(Math.max(Math.round(lit), 0), 255);
    }
  }
}
