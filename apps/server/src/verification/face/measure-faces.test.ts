import assert from "node:assert/strict";
import { test } from "node:test";
import { followLimits } from "@assay/face/follow-face";
import type { Box, FaceMeasurement } from "@assay/face/measurement";
import { patternOf } from "@assay/face/screen-pattern";
import { turnChange } from "@assay/face/turn-change";
import { encode } from "jpeg-js";
import type { ShownFrame } from "./attack-detector.ts";
import { decodePicture } from "./decode-picture.ts";
import { defaultJobLimits, type SeenFrame } from "./face-job.ts";
import { middleOfFace, surroundingsAt } from "./face-light.ts";
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

/** Stripes that run another way in pictures of another width. */
function striped(width: number): Uint8Array {
  const data = new Uint8Array(width * 170 * 4);
  for (let at = 0; at < data.length; at += 4) {
    const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
    data.fill(125 + 60 * Math.sin(x * 0.31 + y * (width - 160) * 0.07) + 50 * Math.sin(y * 0.43), at, at + 4);
  }
  return new Uint8Array(encode({ data, width, height: 170 }, 90).data);
}
const straightPicture = striped(160);
const turnedPicture = striped(161);
const otherTurn = striped(162);
/** In the turned picture the face is somewhere else, which must not matter. */
const boxOf = (width: number): Box => ({ x: width === 160 ? 46 : 52, y: 52, width: 66, height: 70 });
const lookModels: FaceModels = {
  async detect({ width }) {
    return width === 8 ? [place(0)] : [boxOf(width)];
  },
  measure({ width }): FaceMeasurement {
    const yaw = { 160: 0, 161: 20, 162: -20 }[width] ?? 0;
    const pose = { yaw, pitch: 0, roll: 0, size: 100, eyes: 0.3, mouth: 0.05 };
    return { ...pose, box: boxOf(width), faceLight: [0, 0, 0], surroundingLight: null };
  },
  async embed({ width }) {
    return [width];
  },
};
/** The fourth look is turned to one side, the next two to the other. */
const turnedFilm = [0, 1, 2, 3, 4, 5, 6, 7].map((index) => ({
  ...{ atMs: index * 200, receivedAtMs: index * 200 },
  jpeg: index === 3 ? turnedPicture : index === 4 || index === 5 ? otherTurn : straightPicture,
}));
const decoded = (jpeg: Uint8Array) => decodePicture(jpeg, { kinds: ["jpeg"], maxPixels: 100_000 });

test("a turned look is compared with a straight one, both where the face was in the straight one", async () => {
  const result = await measureFaces(lookModels, { frames: turnedFilm, portrait }, defaultJobLimits);
  assert.ok(result.kind === "measured");
  const [straight, turned] = [await decoded(straightPicture), await decoded(turnedPicture)];
  const at = boxOf(160);
  const expected = [turned, await decoded(otherTurn)].map((look) =>
    turnChange(surroundingsAt(straight, at), surroundingsAt(look, at)),
  );
  assert.ok(!expected.includes(null) && expected[0] !== expected[1]);
  assert.deepEqual(
    result.frames.map(({ face }) => face?.turnChange),
    [undefined, undefined, undefined, ...expected, undefined, undefined, undefined],
  );
  assert.deepEqual(
    result.frames.map(({ face }) => face?.embedding),
    [[160], undefined, [160], [161], [162], undefined, [160], undefined],
  );
  const middle = middleOfFace(turned, boxOf(161));
  assert.ok(middle !== null);
  assert.equal(result.frames[3]?.face?.pattern, patternOf(middle));
  assert.deepEqual([result.portraitEmbedding, Object.hasOwn(result, "attackScore")], [[8], false]);
});

test("the operator's detector is shown the pictures that get an embedding", async () => {
  let shown: readonly ShownFrame[] = [];
  const score = (frames: readonly ShownFrame[]) => {
    shown = frames;
    return 0.25;
  };
  const job = { frames: turnedFilm, portrait };
  const result = await measureFaces(lookModels, job, defaultJobLimits, Promise.resolve({ score }));
  assert.equal(result.kind === "measured" && result.attackScore, 0.25);
  assert.deepEqual(
    shown.map(({ picture, face, atMs }) => [picture.width, face.x, atMs]),
    [
      [160, 46, 0],
      [160, 46, 400],
      [160, 46, 1200],
      [161, 52, 600],
      [162, 52, 800],
    ],
  );
});

test("a face too small for a pattern, or turned without a straight look to compare it with, is measured without them", async () => {
  const { models } = modelsOf(() => ({ face: 0 }));
  const small: FaceModels = {
    ...models,
    measure: ({ width }) => {
      const face = models.measure({ width, height: 16, rgb: new Uint8Array() }, place(0));
      return face === null ? null : { ...face, yaw: width === 16 ? 0 : 20, box: { ...place(0), width: 16 } };
    },
  };
  const frames = film.map((jpeg, index) => ({ jpeg, atMs: index * 200, receivedAtMs: index * 200 }));
  const result = await measureFaces(small, { frames, portrait }, defaultJobLimits);
  assert.ok(result.kind === "measured");
  for (const { face } of result.frames)
    for (const name of ["pattern", "turnChange"]) assert.ok(face !== null && !Object.hasOwn(face, name));
});

test("a portrait that cannot be read or shows no face is unusable, and one unreadable frame ends the measurement", async () => {
  const job = { frames: turnedFilm, portrait };
  const kindOf = async (changed: Partial<typeof job>, models = lookModels, limits = defaultJobLimits) =>
    (await measureFaces(models, { ...job, ...changed }, limits)).kind;
  assert.equal(await kindOf({}), "measured");
  assert.equal(await kindOf({ portrait: rubbish }), "portrait_unusable");
  const faceless = { ...lookModels, detect: async () => [] };
  assert.equal(await kindOf({}, faceless), "portrait_unusable");
  const broken = turnedFilm.map((frame, index) => (index === 7 ? { ...frame, jpeg: rubbish } : frame));
  assert.equal(await kindOf({ frames: broken }), "frame_unreadable");
  const { maxPortraitPixels } = defaultJobLimits;
  assert.equal(
    await kindOf({}, lookModels, { maxPortraitPixels, maxFramePixels: 27_000 }),
    "frame_unreadable",
  );
  assert.equal(
    await kindOf({}, lookModels, { ...defaultJobLimits, maxPortraitPixels: 100 }),
    "portrait_unusable",
  );
});

/** As if all of these had been followed, the first ones before the judgement. */
async function followedFilm(count: number, change: (index: number) => Partial<SeenFrame> = () => ({})) {
  // Moves as far from frame to frame as a followed face may.
  const { models, detected } = modelsOf((frame) => ({ face: frame * 30 }));
  const seen: SeenFrame[] = [];
  for (let index = 0; index < count; index++) {
    const size = { width: 16 + index, height: 16 };
    const face = await models.measure({ ...size, rgb: new Uint8Array() }, place(index * 30));
    const frame = { kind: "seen", faces: 1, ...size, face, box: null, mayFollow: film.length } as const;
    seen.push({ ...frame, ...change(index) });
  }
  const measure = async (jpegs: readonly Uint8Array[]) => {
    const frames = jpegs.map((jpeg, index) => ({ jpeg, atMs: index * 200, receivedAtMs: index * 200 }));
    return await measureFaces(models, { frames, portrait, seen }, defaultJobLimits);
  };
  return { detected, measure };
}
const rubbish = new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);

test("the frames that were seen before are not looked at again, and the next ones are followed from the last", async () => {
  const { detected, measure } = await followedFilm(3);
  const result = await measure(film);
  // The detector sees those alone that get an embedding, and had only been followed.
  assert.deepEqual(detected, [0, 3, 6, 9]);
  assert.deepEqual(
    result.kind === "measured" && result.frames.map(({ face }) => face?.box.x),
    film.map((_, index) => index * 30),
  );
});

test("a frame in which the detector has seen the face is not shown to it again", async () => {
  const seenThere = await followedFilm(12, (index) => ({ box: { ...place(index * 30), y: 7 } }));
  assert.equal((await seenThere.measure(film)).kind, "measured");
  assert.deepEqual(seenThere.detected, []);
  // Two faces in one frame: those that were followed are counted, and no others.
  const two = await followedFilm(12, (index) =>
    index === 5 ? { faces: 2 } : index < 4 ? { box: place(index * 30) } : {},
  );
  await two.measure(film);
  assert.deepEqual(new Set(two.detected), new Set([4, 6, 7, 8, 9, 10, 11]));
});

test("a frame that cannot be read any more ends the measurement, and one without a face has none", async () => {
  const withRubbish = (at: number) => film.map((jpeg, index) => (index === at ? rubbish : jpeg));
  const kindOf = async (at: number, faces: number) =>
    (await (await followedFilm(12, () => ({ faces }))).measure(withRubbish(at))).kind;
  assert.equal(await kindOf(3, 1), "frame_unreadable");
  assert.equal(await kindOf(4, 1), "measured");
  const second = await followedFilm(12, (index) => (index === 5 ? { faces: 2 } : {}));
  assert.equal((await second.measure(withRubbish(4))).kind, "frame_unreadable");
  const hidden = await followedFilm(12, (index) => (index === 5 ? { face: null, faces: 0 } : {}));
  const result = await hidden.measure(film);
  assert.equal(result.kind === "measured" && result.frames[5]?.face, null);
});
