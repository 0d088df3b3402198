import assert from "node:assert/strict";
import { test } from "node:test";
import {
  errorsAt,
  pairDistances,
  pairsNeededFor,
  rateOf,
  thresholdFor,
  tryDistances,
} from "./error-rates.ts";

test("a rate has the interval of Wilson, also where no error was seen, and none where nothing was tried", () => {
  const { low, high, share } = rateOf(10, 100) ?? assert.fail();
  assert.deepEqual([share, low.toFixed(4), high.toFixed(4)], [0.1, "0.0552", "0.1744"]);
  const none = rateOf(0, 100) ?? assert.fail();
  assert.deepEqual([none.low, none.high.toFixed(4)], [0, "0.0370"]);
  assert.equal(rateOf(0, 0), null);
});

test("every two pictures are compared once, those of one person apart from those of two", () => {
  const { genuine, impostor } = pairDistances([[[0], [0.1]], [[1], [1.3]], [[5]]]);
  assert.deepEqual(
    genuine.map((distance) => distance.toFixed(1)),
    ["0.1", "0.3"],
  );
  assert.equal(impostor.length, 8);
  assert.equal(impostor[0], 0.9);
});

test("a try is the middle of four pictures against another one, which is never among them", () => {
  const near = [0, 0.1, 0.2, 0.3, 0.4].map((value) => [value]);
  const { genuine, impostor } = tryDistances([near, [[2], [3], [4], [9]]]);
  // The first picture is 0.1 to 0.4 from the other four of the same person, and so is the last.
  assert.deepEqual(
    genuine.map((distance) => distance.toFixed(2)),
    ["0.15", "0.15", "0.15", "0.25", "0.25"],
  );
  // Five portraits against the other person's four pictures,
  // which are too few for a film, and four against the first.
  assert.deepEqual([impostor.length, impostor.at(-1)?.toFixed(2)], [9, "8.85"]);
});

test("a distance at the threshold counts as a match, as it does in a judgement", () => {
  const { falseMatch, falseNonMatch } = errorsAt(
    { genuine: [0.2, 0.5, 0.6], impostor: [0.5, 0.7, 0.8, 0.9] },
    0.5,
  );
  assert.deepEqual([falseMatch?.errors, falseMatch?.of], [1, 4]);
  assert.deepEqual([falseNonMatch?.errors, falseNonMatch?.of], [1, 3]);
});

test("a threshold is told only where the pairs are enough to show its rate", () => {
  const impostor = (count: number) => Array.from({ length: count }, (_, index) => 0.62 + index / 1e6);
  assert.equal(pairsNeededFor(0.01), 381);
  assert.equal(thresholdFor({ genuine: [], impostor: impostor(381) }, 0.01), 0.61);
  assert.equal(thresholdFor({ genuine: [], impostor: impostor(380) }, 0.01), null);
});
