import { picksForEmbedding } from "@assay/face/identity";
import type { FrameMeasurement } from "@assay/face/measurement";
import { decodePicture, type Picture, PictureError } from "./decode-picture.ts";
import type {
  FaceJob,
  FaceJobLimits,
  FaceJobResult,
  FaceLook,
  FaceLookResult,
  SeenFrame,
} from "./face-job.ts";
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
  const seen: SeenFrame[] = [...(job.seen ?? [])];
  for (const { jpeg } of job.frames.slice(seen.length)) {
    const look = await lookAtFrame(models, { jpeg, near: seen.at(-1)?.face?.box ?? null }, limits);
    if (look.kind === "frame_unreadable") return look;
    seen.push(look);
  }
  const frames = job.frames.flatMap(({ atMs, receivedAtMs }, index): FrameMeasurement[] => {
    const found = seen[index];
    if (found === undefined) return [];
    const { faces, width, height, face } = found;
    return [{ atMs, receivedAtMs, faces, width, height, face }];
  });
  const picks = picksForEmbedding(frames);
  for (const index of [...picks.frontal, ...picks.turned]) {
    const [taken, frame, box] = [job.frames[index], frames[index], seen[index]?.box];
    if (taken === undefined || !frame?.face || !box) continue;
    const picture = await decodeFrame(taken.jpeg, limits);
    if (picture === null) return { kind: "frame_unreadable" };
    frames[index] = { ...frame, face: { ...frame.face, embedding: await models.embed(picture, box) } };
  }
  return { kind: "measured", frames, portraitEmbedding };
}

/** What one frame shows. */
export async function lookAtFrame(
  models: FaceModels,
  { jpeg, near }: FaceLook,
  limits: FaceJobLimits,
): Promise<FaceLookResult> {
  const picture = await decodeFrame(jpeg, limits);
  if (picture === null) return { kind: "frame_unreadable" };
  const { width, height } = picture;
  const found = await models.detect(picture);
  const box = found[0] ?? null;
  const face = box === null ? null : await models.measure(picture, box, near ?? undefined);
  return { kind: "seen", faces: found.length, width, height, face, box };
}

async function decodeFrame(jpeg: Uint8Array, limits: FaceJobLimits): Promise<Picture | null> {
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
