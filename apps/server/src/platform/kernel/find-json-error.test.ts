import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { findJsonError } from "./find-json-error.ts";

test("the place is that of the first character that JSON does not have there", () => {
  for (const [text, place] of [
    ["", 0],
    ["{", 1],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ["{a:1}", 1],
    ['{"a":1}}', 7],
    ["[1,]", 3],
    ["[1 2]", 3],
    ['["a\nb"]', 3],
    ['["a\\x"]', 3],
    ['["abc', 5],
    ["[tru", 4],
    ["[nope]", 1],
    ["[01]", 2],
    ["{]", 1],
    ["\ufeff1", 0],
  ] as const)
    assert.equal(findJsonError(text), place, text);
});

test("JSON that is cut off goes wrong at its end or where a number stops, and hostile nesting costs no stack", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, cut) => {
      const part = text.slice(0, cut % text.length);
      assert.ok(findJsonError(part) <= part.length);
      // If JavaScript's parser reports a position, it is the same.
      const reported = messageOf(part).match(/at position (\d+)/)?.[1];
      if (reported !== undefined && !part.endsWith("\\"))
        assert.ok(findJsonError(part) <= Number(reported) + 6, part);
    }),
  );
  assert.equal(findJsonError("[".repeat(100_000)), 100_000);
});

function messageOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}
