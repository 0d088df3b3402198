import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { evenly } from "../test/tries.ts";
import { copyDistance, defaultMatchDistance, matchPortrait } from "./match.ts";

/** An embedding at exactly this distance from the origin. */
const at = (distance: number): number[] => [distance, 0, 0, 0];
const portrait = at(0);

test("a match, and a close one, end at distances that belong to the better side", () => {
  assert.equal(matchPortrait(portrait, [at(0.55)]).decision, "match");
  assert.equal(matchPortrait(portrait, [at(0.550001)]).decision, "close");
  assert.equal(matchPortrait(portrait, [at(0.6)]).decision, "close");
  assert.equal(matchPortrait(portrait, [at(0.600001)]).decision, "mismatch");
  assert.equal(matchPortrait(portrait, [at(0.4)], 0.3).decision, "mismatch");
});

test("the match follows neither the luckiest nor the unluckiest frame", () => {
  assert.equal(matchPortrait(portrait, [at(0.1), at(0.7), at(0.7)]).decision, "mismatch");
  assert.equal(matchPortrait(portrait, [at(0.3), at(0.3), at(1.2)]).decision, "match");
});

test("a frame that is nearer to the portrait than another picture of the person can be is a copy, whatever the others are", () => {
  const isCopy = (...distances: number[]) => matchPortrait(portrait, distances.map(at)).isCopy;
  assert.equal(isCopy(0.2001, 0.3), false);
  assert.equal(isCopy(copyDistance(defaultMatchDistance), 0.3), false);
  assert.equal(isCopy(0.3, 0.1999, 0.5), true);
  assert.equal(isCopy(Number.NaN), false);
  // It belongs to the embedding as the distance of a match does.
  const other = 1.1;
  assert.equal(matchPortrait(portrait, [at(0.399)], other).isCopy, true);
  assert.equal(matchPortrait(portrait, [at(0.401)], other).isCopy, false);
});

test("the match never gets better when a frame gets worse", () => {
  const distances = fc.array(evenly(0, 2), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(distances, fc.nat(5), evenly(0, 1), (list, which, more) => {
      const worse = list.map((value, index) => (index === which % list.length ? value + more : value));
      const before = matchPortrait(portrait, list.map(at)).distance;
      assert.ok(matchPortrait(portrait, worse.map(at)).distance >= before - 1e-12);
    }),
  );
});

test("the match is never made of nothing, of other models' embeddings or of what is not a number", () => {
  assert.throws(() => matchPortrait(portrait, []), RangeError);
  assert.throws(() => matchPortrait(portrait, [[1, 2]]), RangeError);
  assert.equal(matchPortrait(portrait, [[Number.NaN, 0, 0, 0]]).decision, "mismatch");
});
