import assert from "node:assert/strict";
import { test } from "node:test";
import { followLimits } from "@assay/face/follow-face";
import type { Box, FaceMeasurement } from "@assay/face/measurement";
import { encode } from "jpeg-js";
import { defaultJobLimits, type SeenFrame } from "./face-job.ts";
import type { FaceModels } from "./face-models.ts";
import { lookAtFrame, measureFaces } from "./measure-faces.ts";

/** A picture of nothing; its width is what the models below know it by. */
function picture(width: number): Uint8Array {
  return new Uint8Array(encode({ data: new Uint8Array(width * 16 * 4), width, height: 16 }, 50).data);
}

const portrait = picture(8);
const film = Array.from({ length: 12 }, (_, index) => picture(16 + index));
const place = (x: number): Box => ({ x, y: 0, width: 100, height: 100 });

/** What is seen in the frame with this number: where the face is, and where a second one. */
type Scene = (frame: number) => { readonly face: number | null; readonly second?: number };

function modelsOf(scene: Scene, follows = true) {
  const detected: number[] = [];
  const embedded: Box[] = [];
  const sceneOf = (width: number) => (width === 8 ? { face: 0 } : scene(width - 16));
  const models: FaceModels = {
    follows,
    async detect({ width }) {
      const { face, second } = { second: undefined, ...sceneOf(width) };
      if (width !== 8) detected.push(width - 16);
      // The largest first, which is further right. The detector's boxes differ from those of the mesh.
      const boxes = [second, face].filter((x) => x !== undefined && x !== null).sort((a, b) => b - a);
      return boxes.map((x) => ({ ...place(x), y: 7 }));
    },
    measure({ width }, box): FaceMeasurement | null {
      const { face } = sceneOf(width);
      if (face === null || Math.abs(face - box.x) > 60) return null;
      const pose = { yaw: 0, pitch: 0, roll: 0, size: 100, eyes: 0.3, mouth: 0.05 };
      return { ...pose, box: place(face), faceLight: [0, 0, 0], surroundingLight: null };
    },
    async embed(_, box) {
      embedded.push(box);
      return [box.x, box.y];
    },
  };
  return { models, detected, embedded };
}

async function facesIn(models: FaceModels, seen?: readonly SeenFrame[]): Promise<readonly number[]> {
  const frames = film.map((jpeg, index) => ({ jpeg, atMs: index * 200, receivedAtMs: index * 200 }));
  const job = { frames, portrait, ...(seen === undefined ? {} : { seen }) };
  const result = await measureFaces(models, job, defaultJobLimits);
  assert.ok(result.kind === "measured", result.kind);
  return result.frames.map(({ faces, face }) => (face === null ? 0 : faces));
}

/** Looks at every frame, the most frames in a row without the detector. */
async function lookedAt(models: FaceModels): Promise<SeenFrame[]> {
  const seen: SeenFrame[] = [];
  for (const jpeg of film) {
    const before = seen.at(-1);
    const look = { jpeg, near: before?.face?.box ?? null, mayFollow: before?.mayFollow ?? 0 };
    const found = await lookAtFrame(models, look, defaultJobLimits, (_, below) => below - 1);
    assert.ok(found.kind === "seen");
    seen.push(found);
  }
  return seen;
}

test("the detector runs at first, after a drawn number of frames that were followed, and nowhere else", async () => {
  const { models, detected } = modelsOf(() => ({ face: 20 }));
  const seen = await lookedAt(models);
  assert.deepEqual(detected, [0, followLimits.maxFrames + 1]);
  assert.ok(seen.every(({ faces, face }) => faces === 1 && face !== null));
});

test("the detector runs in every frame for models that do not say that they can follow", async () => {
  const { models, detected } = modelsOf(() => ({ face: 20 }), false);
  await lookedAt(models);
  assert.equal(detected.length, film.length);
});

test("the detector runs where the face was lost, or is where it cannot have gone", async () => {
  const hidden = modelsOf((frame) => ({ face: frame === 2 ? null : 20 }));
  assert.deepEqual((await lookedAt(hidden.models)).map(({ faces }) => faces).slice(0, 5), [1, 1, 0, 1, 1]);
  assert.deepEqual(hidden.detected.slice(0, 3), [0, 2, 3]);
  const jumped = modelsOf((frame) => ({ face: frame < 2 ? 20 : 70 }));
  await lookedAt(jumped.models);
  assert.deepEqual(jumped.detected.slice(0, 2), [0, 2]);
});

test("a second face that any look of the detector finds is counted in every frame in which it is", async () => {
  const { models } = modelsOf((frame) => ({ face: 400, ...(frame >= 3 && frame < 9 ? { second: 20 } : {}) }));
  const seen = await lookedAt(models);
  assert.deepEqual(
    seen.map(({ faces }) => faces),
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1].map((one, frame) => (frame >= 6 && frame < 9 ? 2 : one)),
  );
  assert.deepEqual(await facesIn(models, seen), [1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1]);
});

test("an embedding is made from where the detector sees the face that was followed, not from a larger one beside it", async () => {
  const { models, embedded } = modelsOf((frame) => ({ face: 20, ...(frame > 0 ? { second: 400 } : {}) }));
  const seen = (await lookedAt(modelsOf(() => ({ face: 20 })).models)).map((frame, index) => ({
    ...frame,
    box: index === 0 ? { ...place(20), y: 7 } : null,
  }));
  const faces = await facesIn(models, seen);
  assert.deepEqual(faces, [1, ...Array.from({ length: 11 }, () => 2)]);
  // The first is the portrait's.
  for (const box of embedded.slice(1)) assert.deepEqual(box, { ...place(20), y: 7 });
});
