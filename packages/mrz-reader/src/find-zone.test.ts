import assert from "node:assert/strict";
import test from "node:test";
import { findFrom, lookUntilStill, otherPlace } from "./find-zone.ts";
import { type Quad, turnedQuad } from "./geometry.ts";

const zone: Quad = [
  { x: 100, y: 100 },
  { x: 900, y: 100 },
  { x: 900, y: 200 },
  { x: 100, y: 200 },
];
const shares = [0.9, 0.8, 0.95, 0.7] as const;
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
    // From where it begins it finds what is wrong, again and again; from near the zone it finds the zone.
    const look = (rough: Quad) => {
      from.push(rough);
      const isNear = rough.every((at, n) => Math.abs(at.y - (passport[n]?.y ?? 0)) < 15);
      return {
        quad: isNear ? passport : quad,
        shapes: ["TD3"] as const,
        isTurnSure: true,
        isTurned: false,
        shares,
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
    return { quad: narrow, shapes: ["TD1"] as const, isTurnSure: true, isTurned: false, shares };
  };
  assert.deepEqual(findFrom(look, narrow)?.quad, narrow);
  assert.ok(count <= 9, `${count}`);
});

test("a zone that could not be read is looked at with one corner where the other three have it, the least sure corner first", () => {
  const [a, b, c] = zone;
  // The last corner lies a line too high, and the look was least sure of it.
  const found = {
    quad: [a, b, c, { x: 100, y: 150 }] as const,
    shapes: ["TD3"] as const,
    isTurnSure: true,
    shares,
  };
  const from: Quad[] = [];
  const look = (quad: Quad) => {
    from.push(quad);
    return { ...found, quad, isTurned: false };
  };
  assert.deepEqual(otherPlace(look, found, 0)?.quad, zone);
  for (const way of [1, 3, 4, 6]) otherPlace(look, found, way);
  // By how sure the look was: the last, the second, the first, the third, and the last again.
  const moved = from.map((quad) => quad.findIndex((point, n) => point !== found.quad[n]));
  assert.deepEqual(moved, [3, 1, 0, 2, 3]);
});

test("a corner that a look draws to the wrong place once more is read where the other three have it", () => {
  const [, b, c, d] = zone;
  // A barcode beside the first line holds the first corner, whichever way the look comes; or the look sees no zone from there.
  const quad: Quad = [{ x: 100, y: 50 }, b, c, d];
  const found = { quad, shapes: ["TD3"] as const, isTurnSure: true, shares: [0.1, 0.8, 0.9, 0.9] as const };
  for (const again of [{ ...found, isTurned: false }, null])
    assert.deepEqual(otherPlace(() => again, found, 0)?.quad, zone);
  const near: Quad = [{ x: 100, y: 98 }, b, c, d];
  assert.deepEqual(otherPlace(() => ({ ...found, quad: near, isTurned: false }), found, 0)?.quad, near);
});

test("two lines that could not be read may be two of a card's three, which is then read without another look", () => {
  const none = () => assert.fail("looked");
  const found = { quad: zone, shapes: ["TD2"] as const, isTurnSure: true, shares };
  const above = otherPlace(none, found, 2);
  const below = otherPlace(none, found, 5);
  assert.deepEqual([above?.shapes, below?.shapes], [["TD1"], ["TD1"]]);
  assert.deepEqual([above?.quad[0], above?.quad[3]], [{ x: 100, y: 50 }, zone[3]]);
  assert.deepEqual([below?.quad[0], below?.quad[3]], [zone[0], { x: 100, y: 250 }]);
});

test("a side of a card's zone that is a line higher or lower than the other is read with three lines, without another look", () => {
  const none = () => assert.fail("looked");
  // Three lines of 6.1 mm, 30 characters of 2.54: 240 high for 1,000 wide.
  const card: Quad = [
    { x: 0, y: 0 },
    { x: 1000, y: 0 },
    { x: 1000, y: 240 },
    { x: 0, y: 240 },
  ];
  for (const corner of [0, 1, 2, 3])
    for (const by of [80, -80]) {
      const quad = card.map((point, n) => (n === corner ? { x: point.x, y: point.y + by } : point));
      const found = { quad: quad as never, shapes: ["TD1"] as const, isTurnSure: true, shares };
      const places = [0, 1].map((way) => otherPlace(none, found, way)?.quad);
      assert.ok(
        places.some((place) =>
          place?.every(({ x, y }, n) => Math.hypot(x - (card[n]?.x ?? 0), y - (card[n]?.y ?? 0)) < 1e-9),
        ),
        `${corner} ${by}`,
      );
    }
  // One that is even, or a little tilted, has its corners tried.
  for (const by of [0, 30]) {
    const tilted: Quad = [card[0], card[1], { x: 1000, y: 240 + by }, card[3]];
    let looked = 0;
    const look = () => {
      looked++;
      return null;
    };
    otherPlace(look, { quad: tilted, shapes: ["TD1"], isTurnSure: true, shares }, 0);
    assert.equal(looked, 1);
  }
});
