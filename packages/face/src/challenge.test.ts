import assert from "node:assert/strict";
import { test } from "node:test";
import {
  faceColours,
  isForStillHead,
  stillHeadMovements,
  turningMovements,
} from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { challenges } from "../test/tries.ts";
import { challengeShape, newChallenge } from "./challenge.ts";

test("a challenge is of the asked length, from the known words, and nothing follows itself", () => {
  fc.assert(
    fc.property(challenges, ({ movements, colours }) => {
      assert.equal(movements.length, challengeShape.movements);
      assert.equal(colours.length, challengeShape.colours);
      assert.ok(movements.every((movement) => (turningMovements as readonly string[]).includes(movement)));
      assert.ok(colours.every((colour) => faceColours.includes(colour)));
      for (const list of [movements, colours])
        assert.ok(list.every((item, index) => item !== list[index - 1]));
    }),
  );
});

test("a challenge can be every one of the possible sequences", () => {
  const seen = new Set<string>();
  const draw = (prefix: readonly number[]): void => {
    if (prefix.length === challengeShape.movements) {
      const numbers = [...prefix];
      seen.add(newChallenge((below) => (numbers.shift() ?? 0) % below).movements.join());
      return;
    }
    for (let number = 0; number < (prefix.length === 0 ? 4 : 3); number++) draw([...prefix, number]);
  };
  draw([]);
  assert.equal(seen.size, 4 * 3 * 3 * 3);
});

test("a challenge refuses a random source that answers outside its bounds", () => {
  assert.throws(() => newChallenge((below) => below), RangeError);
});

test("a challenge for a head that stays still asks for no turn, and is never one of the others", () => {
  const seen = new Set<string>();
  for (let number = 0; number < 3 * 2 * 2 * 2; number++) {
    const draws = [
      number % 3,
      Math.floor(number / 3) % 2,
      Math.floor(number / 6) % 2,
      Math.floor(number / 12),
    ];
    const { movements } = newChallenge((below) => (draws.shift() ?? 0) % below, { stillHead: true });
    assert.ok(movements.every((movement) => (stillHeadMovements as readonly string[]).includes(movement)));
    assert.ok(isForStillHead(movements));
    seen.add(movements.join());
  }
  assert.equal(seen.size, 24);
});
