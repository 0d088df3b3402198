import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { embeddingCentre, embeddingOf } from "./embedding.ts";
import { distanceOf } from "./measurement.ts";

/** What the network makes of a face that lies so far, in one of the numbers, from where distances begin. */
function faceAt(number: number, by: number): number[] {
  return embeddingCentre.map((middle, at) => 0.85 * middle + (at === number ? by : 0));
}

const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

test("an embedding is a direction: how far the face lies from the centre does not count", () => {
  near(distanceOf(embeddingOf(faceAt(3, 0.1)), embeddingOf(faceAt(3, 0.9))), 0);
  near(embeddingOf(faceAt(3, 0.1))[3] ?? 0, 0.7);
});

test("faces to two sides of the centre are far apart, however little their numbers differ", () => {
  near(distanceOf(embeddingOf(faceAt(3, 0.01)), embeddingOf(faceAt(3, -0.01))), 1.4);
  near(distanceOf(embeddingOf(faceAt(3, 0.01)), embeddingOf(faceAt(7, 0.01))), 0.7 * Math.SQRT2);
});

test("a face without a direction, or with a number that is none, matches nothing", () => {
  const other = embeddingOf(faceAt(3, 0.1));
  const missing = faceAt(3, 0.1).map((value, at) => (at === 5 ? Number.NaN : value));
  for (const face of [faceAt(3, 0), missing]) assert.ok(Number.isNaN(distanceOf(embeddingOf(face), other)));
});

test("the centre is the one that the error rates were measured with", () => {
  const hash = createHash("sha256").update(embeddingCentre.join(" ")).digest("hex");
  assert.equal(hash, "27ec30c5647f1fb9220b4813f2a9f0ddeae5c506c921afad0e723fd0ecb0058a");
});
