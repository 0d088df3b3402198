import assert from "node:assert/strict";
import test from "node:test";
import { findFrom, lookUntilStill } from "./find-zone.ts";
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

test("a corner or an edge on a wrong line is put where the zone's shape says, and the zone is looked at again from there", () => {
  // 800 wide: a passport's zone is 87 high, and a line of it 44.
  const passport: Quad = [
    { x: 100, y: 100 },
    { x: 900, y: 100 },
    { x: 900, y: 187 },
    { x: 100, y: 187 },
  ];
  const [a, b, c, d] = passport;
  const missed: readonly Quad[] = [
    [a, { x: 900, y: 144 }, c, d],
    [{ x: 100, y: 56 }, { x: 900, y: 56 }, c, d],
    [a, b, { x: 900, y: 231 }, { x: 100, y: 231 }],
    [a, b, c, { x: 100, y: 131 }],
  ];
  for (const quad of missed) {
    const from: Quad[] = [];
    // From the start it always finds the wrong zone; from near the zone it finds the zone.
    const look = (rough: Quad) => {
      from.push(rough);
      const isNear = rough.every((at, n) => Math.abs(at.y - (passport[n]?.y ?? 0)) < 15);
      return {
        quad: isNear ? passport : quad,
        shapes: ["TD3"] as const,
        isTurnSure: true,
        isTurned: false,
      };
    };
    assert.deepEqual(findFrom(look, quad)?.quad, passport);
    assert.ok(from.length <= 6);
  }
});

test("a zone that no mending makes consistent is told as it was found, after a bounded number of looks", () => {
  const narrow: Quad = [zone[0], zone[1], { x: 900, y: 110 }, { x: 100, y: 110 }];
  let count = 0;
  const look = () => {
    count++;
    return { quad: narrow, shapes: ["TD1"] as const, isTurnSure: true, isTurned: false };
  };
  assert.deepEqual(findFrom(look, narrow)?.quad, narrow);
  assert.ok(count <= 9, `${count}`);
});
