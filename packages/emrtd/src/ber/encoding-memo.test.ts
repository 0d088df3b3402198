import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex } from "../bytes.ts";
import { EncodingMemo } from "./encoding-memo.ts";

function ask(memo: EncodingMemo<string>, bytes: Uint8Array): string | null {
  return memo.get(bytes, 0, bytes.length);
}

test("two encodings that mix to the same number are never taken for each other", () => {
  const memo = new EncodingMemo<string>({ maxEntries: 8, maxBytes: 8 });
  // 1 · 31 + 0 and 0 · 31 + 31.
  const [one, other] = [fromHex("0100"), fromHex("001f")];
  memo.set(one, 0, 2, "one");
  assert.equal(ask(memo, one), "one");
  assert.equal(ask(memo, other), null);
  memo.set(other, 0, 2, "other");
  assert.equal(ask(memo, other), "other");
  assert.equal(ask(memo, one), null);
});

test("what is remembered stays when the bytes it came from are written over, in a Buffer too", () => {
  const memo = new EncodingMemo<string>({ maxEntries: 8, maxBytes: 8 });
  const source = Buffer.from("00aabb00", "hex");
  memo.set(source, 1, 3, "found");
  source.fill(7);
  assert.equal(ask(memo, fromHex("aabb")), "found");
  assert.equal(memo.get(fromHex("01aabb"), 1, 3), "found");
  assert.equal(memo.get(source, 1, 3), null);
});

test("no more is kept than was allowed, in number and in size", () => {
  const memo = new EncodingMemo<string>({ maxEntries: 2, maxBytes: 2 });
  for (const text of ["01", "02", "03", "040404"]) {
    const bytes = fromHex(text);
    memo.set(bytes, 0, bytes.length, text);
  }
  const known = ["01", "02", "03", "040404"].filter((text) => ask(memo, fromHex(text)) === text);
  assert.deepEqual(known, ["02", "03"]);
});
