import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromBase64, fromBase64Url, toBase64, toBase64Url } from "./base64url.ts";
import { CredentialError } from "./credential-error.ts";
import { readJson } from "./json.ts";

const isRefused = (read: () => unknown) => {
  try {
    read();
    return false;
  } catch (error) {
    assert.ok(error instanceof CredentialError, String(error));
    return true;
  }
};

test("JSON is read as the platform reads it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value, null, 1);
      assert.deepEqual(readJson(text), JSON.parse(text));
    }),
  );
});

test("a name that stands twice is refused, at any depth and however it is written", () => {
  const texts = [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"a":1,"a":1}}]',
    '{"a":{"b":1},"a":2}',
    '{"__proto__":1,"__proto__":2}',
  ];
  for (const text of texts)
    assert.ok(
      isRefused(() => readJson(text)),
      text,
    );
  for (const text of ['{"a":":","b":"\\":"}', '{"a":{"a":1}}', '[{"a":1},{"a":1}]', '{"__proto__":1}']) {
    assert.ok(!isRefused(() => readJson(text)), text);
  }
});

test("nesting is bounded before the text is parsed", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assert.ok(!isRefused(() => readJson(nested(16))));
  assert.ok(isRefused(() => readJson(nested(17))));
  assert.ok(isRefused(() => readJson(nested(1_000_000))));
  assert.ok(!isRefused(() => readJson(JSON.stringify("[".repeat(1000)))), "brackets in a text are none");
});

test("base64 has one text for the same bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.deepEqual([...fromBase64Url(toBase64Url(bytes))], [...bytes]);
      assert.equal(toBase64Url(bytes), Buffer.from(bytes).toString("base64url"));
      assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
      assert.deepEqual([...fromBase64(toBase64(bytes))], [...bytes]);
    }),
  );
  for (const text of ["A", "AB", "ABC=", "AA==", "A+/A", "AAA\n", "é", "AA AA"]) {
    assert.ok(
      isRefused(() => fromBase64Url(text)),
      text,
    );
  }
  for (const text of ["AA=", "AB==", "A-_A", "AAAA=", "AA\n=="])
    assert.ok(
      isRefused(() => fromBase64(text)),
      text,
    );
});
