import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readPortrait } from "@assay/emrtd/node/test-country/portraits";
import { distanceOf } from "@assay/face/measurement";
import { decode } from "jpeg-js";
import { loadUprightEmbedding } from "../../../test/support/upright-embedding.ts";
import { type DecodedPicture, decodePicture } from "./decode-picture.ts";
import { type FaceModels, loadFaceModels } from "./face-models.ts";

/**
 * Results of the packages that the weights come from (face-api 1.7.15, human 3.3.6) on TensorFlow.js 4.22.0.
 * Pictures decoded by jpeg-js 0.4.4. A box is left, top, width, height; a pose is yaw, pitch, roll, size.
 */
type Reference = {
  readonly name: string;
  readonly faces: readonly (readonly number[])[];
  readonly pose: readonly number[];
  readonly embedding: readonly number[];
};
const referenceFile = (name: string) =>
  readFileSync(new URL(`../../../test/support/face-reference/${name}`, import.meta.url));
const references = JSON.parse(`${referenceFile("results.json")}`) as readonly Reference[];

/** The service's own decoder gives slightly other pixels, which is not what is compared here. */
function decoded(jpeg: Uint8Array): DecodedPicture {
  const { width, height, data } = decode(jpeg, { useTArray: true, formatAsRGBA: false });
  return { width, height, rgb: data };
}

/** Portraits of the test country, or frames of films of its people. */
async function pictureOf(name: string): Promise<DecodedPicture> {
  if (name === "elder.jp2")
    return decodePicture(readPortrait(name), { kinds: ["jp2", "j2k"], maxPixels: 1_000_000 });
  return decoded(name === "adult.jpg" ? readPortrait(name) : referenceFile(name));
}

function assertNear(
  actual: readonly number[],
  expected: readonly number[],
  most: number,
  what: string,
): void {
  assert.equal(actual.length, expected.length, what);
  for (const [index, value] of actual.entries())
    assert.ok(Math.abs(value - (expected[index] ?? 0)) <= most, `${what}: ${actual} instead of ${expected}`);
}

test("the face models find, measure and embed faces as the packages do that their weights come from", async () => {
  const models = await loadFaceModels();
  const embedUpright = await loadUprightEmbedding();
  for (const { name, faces, pose, embedding } of references) {
    const picture = await pictureOf(name);
    const found = await models.detect(picture);
    assert.equal(found.length, faces.length, name);
    for (const [index, { x, y, width, height }] of found.entries())
      assertNear([x, y, width, height], faces[index] ?? [], 0.01, `${name}, box in pixels`);
    const [box] = found;
    assert.ok(box !== undefined, name);
    const measured = await models.measure(picture, box);
    assert.ok(measured !== null, name);
    const { yaw, pitch, roll, size } = measured;
    assertNear([yaw, pitch, roll, size], pose, 0.01, `${name}, pose in degrees and pixels`);
    // Two people differ by about 0.6.
    assert.ok(distanceOf(await embedUpright(picture, box), embedding) < 0.0001, `${name}, embedding`);
  }
});

test("the face models are made from exactly the weights that were published", () => {
  const folder = new URL(".", import.meta.resolve("@assay/face/networks/facemesh.json"));
  const published = new Map(
    [
      ...readFileSync(new URL("README.md", folder), "utf8").matchAll(/^\| `(.+)` \| `([0-9a-f]{64})` \|$/gm),
    ].map(([, file, hash]) => [file, hash]),
  );
  const stored = readdirSync(folder).filter((file) => file !== "README.md");
  assert.deepEqual(stored.sort(), [...published.keys()].sort());
  for (const file of stored)
    assert.equal(
      createHash("sha256")
        .update(readFileSync(new URL(file, folder)))
        .digest("hex"),
      published.get(file),
      file,
    );
});

test("the face models can be asked many things at once and mix nothing up", async () => {
  const models = await loadFaceModels();
  const pictures = await Promise.all(["adult.jpg", "elder.jp2"].map(pictureOf));
  const embed = async (picture: DecodedPicture) => {
    const [box] = await models.detect(picture);
    return box === undefined ? [] : await models.embed(picture, box);
  };
  const alone: (readonly number[])[] = [];
  for (const picture of pictures) alone.push(await embed(picture));
  assert.deepEqual(await Promise.all(pictures.map(embed)), alone);
});

/** As if the camera was held askew. */
function tilted({ width, height, rgb }: DecodedPicture, degrees: number): DecodedPicture {
  const turned = new Uint8Array(rgb.length).fill(200);
  const [cos, sin] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const [dx, dy] = [column - width / 2, row - height / 2];
      const x = Math.round(width / 2 + dx * cos - dy * sin);
      const y = Math.round(height / 2 + dx * sin + dy * cos);
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      turned.set(rgb.subarray((y * width + x) * 3, (y * width + x) * 3 + 3), (row * width + column) * 3);
    }
  return { width, height, rgb: turned };
}

test("a face that is held askew is turned upright before it is compared", async () => {
  const models = await loadFaceModels();
  const embedUpright = await loadUprightEmbedding();
  const picture = await pictureOf("adult.jpg");
  const askew = tilted(picture, 18);
  const distance = async (embed: FaceModels["embed"]) => {
    const [[straight], [turned]] = [await models.detect(picture), await models.detect(askew)];
    assert.ok(straight !== undefined && turned !== undefined);
    return distanceOf(await embed(picture, straight), await embed(askew, turned));
  };
  const [now, before] = [await distance(models.embed), await distance(embedUpright)];
  assert.ok(now < before / 2 && now < 0.2, `${now} instead of ${before}`);
});
