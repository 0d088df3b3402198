import assert from "node:assert/strict";
import test from "node:test";
import { lookUntilStill } from "./find-zone.ts";
import { type Quad, turnedQuad } from "./geometry.ts";

const zone: Quad = [
  { x: 100, y: 100 },
  { x: 900, y: 100 },
  { x: 900, y: 200 },
  { x: 100, y: 200 },
];
const beside = (by: number): Quad => [{ x: 100 + by, y: 100 }, zone[1], zone[2], zone[3]];

/** Looks that find one quad after the other, and from where they began. */
function looks(...found: readonly ({ quad: Quad; isTurned: boolean } | null)[]) {
  const from: Quad[] = [];
  const look = (quad: Quad) => {
    from.push(quad);
    return found[from.length - 1] ?? null;
  };
  return { look, from };
}
const seen = (quad: Quad, isTurned = false) => ({ quad, isTurned });

test("a zone is looked at twice, and a third time where the second look moved a corner", () => {
  const still = looks(seen(beside(11)), seen(zone), seen(beside(99)));
  assert.deepEqual(lookUntilStill(still.look, beside(60))?.quad, zone);
  assert.deepEqual(still.from, [beside(60), beside(11)]);
  const moved = looks(seen(beside(13)), seen(zone), seen(beside(1)));
  assert.deepEqual(lookUntilStill(moved.look, beside(60))?.quad, beside(1));
  assert.deepEqual(moved.from, [beside(60), beside(13), zone]);
});

test("a zone that was found to be upside down has not moved, and one that a look does not find is none", () => {
  const turned = looks(seen(turnedQuad(zone)), seen(zone, true));
  assert.deepEqual(lookUntilStill(turned.look, turnedQuad(zone))?.quad, zone);
  assert.equal(turned.from.length, 2);
  assert.equal(lookUntilStill(looks(null).look, zone), null);
  assert.equal(lookUntilStill(looks(seen(zone), null).look, zone), null);
});
