import { randomInt } from "node:crypto";
import { faceAt, followLimits, isFollowed } from "@assay/face/follow-face";
import { picksForEmbedding } from "@assay/face/identity";
import type { Box, FaceMeasurement, FrameMeasurement } from "@assay/face/measurement";
import { patternOf } from "@assay/face/screen-pattern";
import { straightLookFor, turnChange } from "@assay/face/turn-change";
import { type AttackDetector, type ShownFrame, scoreAttack } from "./attack-detector.ts";
import { type DecodedPicture, decodePicture, PictureError } from "./decode-picture.ts";
import {
  type FaceJob,
  type FaceJobLimits,
  type FaceJobResult,
  type FaceLook,
  type FaceLookResult,
  lookAfter,
  type SeenFrame,
} from "./face-job.ts";
import { middleOfFace, surroundingsAt } from "./face-light.ts";
import type { FaceModels } from "./face-models.ts";

/** Decodes one picture at a time, so that a try never holds all of them decoded. */
export async function measureFaces(
  models: FaceModels,
  job: FaceJob,
  limits: FaceJobLimits,
  detector: Promise<AttackDetector> | null = null,
): Promise<FaceJobResult> {
  const portraitEmbedding = await embedPortrait(models, job.portrait, limits);
  if (portraitEmbedding === null) return { kind: "portrait_unusable" };
  const seen: SeenFrame[] = [...(job.seen ?? [])];
  for (const { jpeg } of job.frames.slice(seen.length)) {
    const look = await lookAtFrame(models, lookAfter(seen.at(-1), jpeg), limits);
    if (look.kind === "frame_unreadable") return look;
    seen.push(look);
  }
  const found = new Map<number, Pick<FaceMeasurement, "embedding" | "pattern" | "turnChange">>();
  const shown: ShownFrame[] = [];
  const looks = measurementsOf(job, seen);
  const picks = picksForEmbedding(looks);
  const straight = new Map<FrameMeasurement, Float32Array>();
  for (const index of [...picks.frontal, ...picks.turned]) {
    const [taken, frame] = [job.frames[index], seen[index]];
    if (taken === undefined || !frame?.face) continue;
    const picture = await decodeFrame(taken.jpeg, limits);
    if (picture === null) return { kind: "frame_unreadable" };
    // Embeddings use the detector's box, because the thresholds were measured with such embeddings.
    const faces = isOnlyFollowed(frame) ? await models.detect(picture) : null;
    const box = faces === null ? frame.box : boxOfFollowed(frame.face, faces);
    if (faces !== null && faces.length > 1) seen[index] = { ...frame, faces: faces.length };
    if (box === null) continue;
    if (detector !== null) shown.push({ picture, face: frame.face.box, atMs: taken.atMs });
    const middle = middleOfFace(picture, frame.face.box);
    const look = looks[index];
    if (look !== undefined && picks.frontal.includes(index))
      straight.set(look, surroundingsAt(picture, frame.face.box));
    const change = look === undefined ? null : turnChangeIn(picture, look, straight);
    found.set(index, {
      embedding: await models.embed(picture, box),
      ...(middle === null ? {} : { pattern: patternOf(middle) }),
      ...(change === null ? {} : { turnChange: change }),
    });
  }
  if (!(await countFacesOfAll(models, job, seen, limits))) return { kind: "frame_unreadable" };
  const frames = measurementsOf(job, seen).map((frame, index) =>
    frame.face === null ? frame : { ...frame, face: { ...frame.face, ...found.get(index) } },
  );
  const attackScore = detector === null ? {} : { attackScore: await scoreAttack(detector, shown) };
  return { kind: "measured", frames, portraitEmbedding, ...attackScore };
}

/** Of a turned look compared with a straight one. Both are sampled at the position of the straight face. */
function turnChangeIn(
  picture: DecodedPicture,
  look: FrameMeasurement,
  straight: ReadonlyMap<FrameMeasurement, Float32Array>,
): number | null {
  const other = straightLookFor(look, [...straight.keys()]);
  const square = other === null ? undefined : straight.get(other);
  if (!other?.face || square === undefined) return null;
  return turnChange(square, surroundingsAt(picture, other.face.box));
}

function measurementsOf(job: FaceJob, seen: readonly SeenFrame[]): FrameMeasurement[] {
  return job.frames.flatMap(({ atMs, receivedAtMs }, index): FrameMeasurement[] => {
    const found = seen[index];
    if (found === undefined) return [];
    const { faces, width, height, face } = found;
    return [{ atMs, receivedAtMs, faces, width, height, face }];
  });
}

function isOnlyFollowed({ face, box }: SeenFrame): boolean {
  return face !== null && box === null;
}

function boxOfFollowed(face: FaceMeasurement, found: readonly Box[]): Box {
  return faceAt(face.box, found) ?? found[0] ?? face.box;
}

/** If any frame has a second face, faces are counted in every frame. False if a frame cannot be read. */
async function countFacesOfAll(
  models: FaceModels,
  job: FaceJob,
  seen: SeenFrame[],
  limits: FaceJobLimits,
): Promise<boolean> {
  if (seen.every(({ faces }) => faces <= 1)) return true;
  for (const [index, frame] of seen.entries()) {
    const jpeg = job.frames[index]?.jpeg;
    if (jpeg === undefined || frame.faces > 1 || !isOnlyFollowed(frame)) continue;
    const picture = await decodeFrame(jpeg, limits);
    if (picture === null) return false;
    const found = await models.detect(picture);
    seen[index] = { ...frame, faces: Math.max(found.length, 1) };
  }
  return true;
}

/** What one frame shows. */
export async function lookAtFrame(
  models: FaceModels,
  { jpeg, near, mayFollow }: FaceLook,
  limits: FaceJobLimits,
  random: (from: number, below: number) => number = randomInt,
): Promise<FaceLookResult> {
  const picture = await decodeFrame(jpeg, limits);
  if (picture === null) return { kind: "frame_unreadable" };
  const { width, height } = picture;
  if (models.follows === true && near !== null && mayFollow > 0) {
    const face = await models.measure(picture, near, near);
    if (face !== null && isFollowed(near, face.box))
      return { kind: "seen", faces: 1, width, height, face, box: null, mayFollow: mayFollow - 1 };
  }
  const found = await models.detect(picture);
  const box = found[0] ?? null;
  const face = box === null ? null : await models.measure(picture, box, near ?? undefined);
  // If more than one face was found, the detector runs on every frame.
  const alone = found.length === 1 && face !== null;
  const next = alone ? random(1, followLimits.maxFrames + 1) : 0;
  return { kind: "seen", faces: found.length, width, height, face, box, mayFollow: next };
}

async function decodeFrame(jpeg: Uint8Array, limits: FaceJobLimits): Promise<DecodedPicture | null> {
  try {
    return await decodePicture(jpeg, { kinds: ["jpeg"], maxPixels: limits.maxFramePixels });
  } catch (error) {
    if (error instanceof PictureError) return null;
    throw error;
  }
}

async function embedPortrait(
  models: FaceModels,
  bytes: Uint8Array,
  limits: FaceJobLimits,
): Promise<readonly number[] | null> {
  let picture: DecodedPicture;
  try {
    picture = await decodePicture(bytes, {
      kinds: ["jpeg", "jp2", "j2k"],
      maxPixels: limits.maxPortraitPixels,
    });
  } catch (error) {
    if (error instanceof PictureError) return null;
    throw error;
  }
  const [box] = await models.detect(picture);
  return box === undefined ? null : models.embed(picture, box);
}
