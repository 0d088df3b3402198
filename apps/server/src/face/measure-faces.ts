import { picksForEmbedding } from "@assay/face/identity";
import type { Box, FrameMeasurement } from "@assay/face/measurement";
import { decodePicture, type Picture, PictureError } from "./decode-picture.ts";
import type { FaceJob, FaceJobLimits, FaceJobResult, TakenFrame } from "./face-job.ts";
import type { FaceModels } from "./face-models.ts";

/**
 * Pictures are decoded one at a time, and the few that get an embedding once more, so that a try never holds all its pictures unpacked.
 */
export async function measureFaces(
  models: FaceModels,
  job: FaceJob,
  limits: FaceJobLimits,
): Promise<FaceJobResult> {
  const portraitEmbedding = await embedPortrait(models, job.portrait, limits);
  if (portraitEmbedding === null) return { kind: "portrait_unusable" };
  const frames: FrameMeasurement[] = [];
  const boxes: (Box | undefined)[] = [];
  for (const frame of job.frames) {
    const picture = await decodeFrame(frame, limits);
    if (picture === null) return { kind: "frame_unreadable" };
    const found = await models.detect(picture);
    boxes.push(found[0]);
    frames.push({
      atMs: frame.atMs,
      receivedAtMs: frame.receivedAtMs,
      faces: found.length,
      width: picture.width,
      height: picture.height,
      face: found[0] === undefined ? null : await models.measure(picture, found[0], frames.at(-1)?.face?.box),
    });
  }
  const picks = picksForEmbedding(frames);
  for (const index of [...picks.frontal, ...picks.turned]) {
    const [taken, frame, box] = [job.frames[index], frames[index], boxes[index]];
    if (taken === undefined || !frame?.face || box === undefined) continue;
    const picture = await decodeFrame(taken, limits);
    if (picture === null) return { kind: "frame_unreadable" };
    frames[index] = { ...frame, face: { ...frame.face, embedding: await models.embed(picture, box) } };
  }
  return { kind: "measured", frames, portraitEmbedding };
}

async function decodeFrame(frame: TakenFrame, limits: FaceJobLimits): Promise<Picture | null> {
  try {
    return await decodePicture(frame.jpeg, { kinds: ["jpeg"], maxPixels: limits.maxFramePixels });
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
  let picture: Picture;
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
