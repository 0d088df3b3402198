import assert from "node:assert/strict";
import { test } from "node:test";
import { faceColours, faceMovements } from "@assay/contract/verify-protocol";
import fc from "fast-check";
import { challenges } from "../test/tries.ts";
import { challengeShape, newChallenge } from "./challenge.ts";

test("a challenge is of the asked length, from the known words, and nothing follows itself", () => {
  fc.assert(
    fc.property(challenges, ({ movements, colours }) => {
      assert.equal(movements.length, challengeShape.movements);
      assert.equal(colours.length, challengeShape.colours);
      assert.ok(movements.every((movement) => faceMovements.includes(movement)));
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
