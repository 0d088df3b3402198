import type { Picture } from "@assay/device/node/jpeg";
import { personAt, stillsFor } from "@assay/device/node/test-person";
import type { PosedPerson } from "@assay/emrtd/node/test-country/portraits";
import type { Challenge } from "@assay/face/challenge";
import { colourAt, screenLight } from "@assay/face/colour-schedule";
import type { FaceMeasurement } from "@assay/face/measurement";
import { encode } from "jpeg-js";
import type { DecodedPicture } from "../../apps/server/src/verification/face/decode-picture.ts";
import type { TakenFrame } from "../../apps/server/src/verification/face/face-job.ts";
import type { FaceModels } from "../../apps/server/src/verification/face/face-models.ts";

type Point = readonly [x: number, y: number];
type Shape = readonly Point[];

const frameMs = 220;

/**
 * Another person's film with a pasted face. The drawn person follows the challenge. In every frame the
 * photograph is bent onto the points of their face (thin plate splines), coloured like the face below and
 * blended in. Null if the mesh finds no face.
 */
export async function filmOfSwappedFace(
  models: FaceModels,
  photograph: { readonly picture: DecodedPicture; readonly face: FaceMeasurement },
  body: PosedPerson,
  challenge: Challenge,
  random: () => number,
): Promise<TakenFrame[] | null> {
  const frames: TakenFrame[] = [];
  for (const [index, still] of stillsFor(challenge.movements).entries()) {
    const atMs = (index + 1) * frameMs;
    const { width, height, data: rgb } = personAt(body, still);
    const picture = { width, height, rgb };
    const [box] = await models.detect(picture);
    const below = box === undefined ? null : await models.measure(picture, box);
    if (!below?.shape || !photograph.face.shape) return null;
    const pasted = paste(picture, below, photograph.picture, photograph.face.shape);
    const data = lit(pasted, below, screenLight[colourAt(challenge, atMs)], random);
    frames.push({
      atMs,
      receivedAtMs: atMs + 120,
      jpeg: new Uint8Array(encode({ data, width, height }, 85).data),
    });
  }
  return frames;
}

/** Opacity of the pasted face at a point: full in the middle, none beyond its edge. */
function coverAt({ box }: FaceMeasurement, x: number, y: number): number {
  const across = (x - box.x - box.width / 2) / (0.5 * box.width);
  const down = (y - box.y - box.height / 2) / (0.5 * box.height);
  return Math.min(Math.max((1 - Math.hypot(across, down)) / 0.15, 0), 1);
}

function paste(
  { width, height, rgb }: DecodedPicture,
  below: FaceMeasurement,
  from: DecodedPicture,
  shape: Shape,
): Picture {
  const source = spline(below.shape ?? [], shape);
  const data = Uint8Array.from(rgb);
  const picked: { at: number; cover: number; colour: readonly number[] }[] = [];
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const cover = coverAt(below, x, y);
      if (cover > 0) picked.push({ at: (y * width + x) * 3, cover, colour: colourIn(from, source([x, y])) });
    }
  for (let channel = 0; channel < 3; channel++) {
    const mean = (value: (pixel: (typeof picked)[number]) => number) =>
      picked.reduce((sum, pixel) => sum + value(pixel), 0) / picked.length;
    const shift = mean(({ at }) => rgb[at + channel] ?? 0) - mean(({ colour }) => colour[channel] ?? 0);
    for (const { at, cover, colour } of picked) {
      const pasted = (colour[channel] ?? 0) + shift;
      data[at + channel] = Math.min(
        Math.max((rgb[at + channel] ?? 0) * (1 - cover) + pasted * cover, 0),
        255,
      );
    }
  }
  return { width, height, data };
}

function colourIn({ width, height, rgb }: DecodedPicture, [x, y]: Point): readonly number[] {
  const [atX, atY] = [Math.min(Math.max(x, 0), width - 1.001), Math.min(Math.max(y, 0), height - 1.001)];
  const [left, top] = [Math.floor(atX), Math.floor(atY)];
  const [u, v] = [atX - left, atY - top];
  return [0, 1, 2].map((channel) => {
    const value = (down: number, across: number) =>
      rgb[((top + down) * width + left + across) * 3 + channel] ?? 0;
    const upper = value(0, 0) * (1 - u) + value(0, 1) * u;
    return upper * (1 - v) + (value(1, 0) * (1 - u) + value(1, 1) * u) * v;
  });
}

/** The smoothest map that takes the points of one shape to those of the other. */
function spline(from: Shape, to: Shape): (at: Point) => Point {
  const bend = ([x, y]: Point, [u, v]: Point) => {
    const square = (x - u) ** 2 + (y - v) ** 2;
    return square === 0 ? 0 : square * Math.log(square);
  };
  const basis = (at: Point) => [...from.map((point) => bend(at, point)), 1, ...at];
  const rows = from.map((point, index) => [...basis(point), ...(to[index] ?? [0, 0])]);
  for (let extra = 0; extra < 3; extra++)
    rows.push([...from.map(([x, y]) => [1, x, y][extra] ?? 0), 0, 0, 0, 0, 0]);
  const weights = solved(rows);
  return (at) => {
    const values = basis(at);
    const sum = (column: 0 | 1) =>
      values.reduce((total, value, index) => total + value * (weights[index]?.[column] ?? 0), 0);
    return [sum(0), sum(1)];
  };
}

/** Gauss with pivots, for two right sides. */
function solved(rows: number[][]): readonly (readonly [number, number])[] {
  const count = rows.length;
  for (let index = 0; index < count; index++) {
    let most = index;
    for (let row = index; row < count; row++)
      if (Math.abs(rows[row]?.[index] ?? 0) > Math.abs(rows[most]?.[index] ?? 0)) most = row;
    [rows[index], rows[most]] = [rows[most] ?? [], rows[index] ?? []];
    const pivot = rows[index] ?? [];
    for (const row of rows) {
      const factor = (row[index] ?? 0) / (pivot[index] ?? 1);
      if (row !== pivot)
        for (let column = index; column < count + 2; column++)
          row[column] = (row[column] ?? 0) - factor * (pivot[column] ?? 0);
    }
  }
  return rows.map((row, index) => {
    const pivot = row[index] ?? 1;
    return [(row[count] ?? 0) / pivot, (row[count + 1] ?? 0) / pivot];
  });
}

/** In the light of the screen, with the noise of a camera. */
function lit(
  { width, height, data }: Picture,
  face: FaceMeasurement,
  colour: readonly number[],
  random: () => number,
): Uint8Array {
  const rgba = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const share = coverAt(face, pixel % width, Math.floor(pixel / width)) > 0 ? 0.05 : 0.01;
    for (let channel = 0; channel < 3; channel++) {
      const grain = (random() + random() + random() - 1.5) * 4;
      const value =
        (data[pixel * 3 + channel] ?? 0) * (1 + (colour[channel] ?? 0) * share) ** (1 / 2.2) + grain;
      rgba[pixel * 4 + channel] = Math.min(Math.max(Math.round(value), 0), 255);
    }
  }
  return rgba;
}
