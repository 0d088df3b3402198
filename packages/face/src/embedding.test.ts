import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddingCentre, embeddingOf } from "./embedding.ts";
import { distanceOf } from "./measurement.ts";

/** What the network makes of a face that lies `steps` from the centre, each a number and how far. */
function faceAt(...steps: readonly (readonly [number: number, by: number])[]): number[] {
  const face = [...embeddingCentre];
  for (const [number, by] of steps) face[number] = (face[number] ?? 0) + by;
  return face;
}

const same = (face: readonly number[]) => embeddingOf(face, face);
const near = (actual: number, expected: number) => assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}`);

test("an embedding is a direction from the centre: how far the face lies from it does not count", () => {
  near(distanceOf(same(faceAt([3, 0.1])), same(faceAt([3, 0.9]))), 0);
  near(same(faceAt([3, 0.1]))[3] ?? 0, 2 / 3);
});

test("faces to two sides of the centre are far apart, however little their numbers differ", () => {
  near(distanceOf(same(faceAt([3, 0.01])), same(faceAt([3, -0.01]))), 4 / 3);
  near(distanceOf(same(faceAt([3, 0.01])), same(faceAt([7, 0.01]))), (2 / 3) * Math.SQRT2);
});

test("a face and its mirror image have one embedding, between the two", () => {
  const [seen, mirrored] = [faceAt([3, 0.2]), faceAt([7, 0.2])];
  assert.deepEqual(embeddingOf(seen, mirrored), embeddingOf(mirrored, seen));
  near(distanceOf(embeddingOf(seen, mirrored), same(faceAt([3, 0.1], [7, 0.1]))), 0);
});

test("a face without a direction, or with a number that is none, matches nothing", () => {
  const other = same(faceAt([3, 0.1]));
  for (const face of [faceAt(), faceAt([5, Number.NaN])])
    assert.ok(Number.isNaN(distanceOf(same(face), other)));
});
