import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { formatRing, KeyRing, newRingKey, parseRing } from "./key-ring.ts";

const one = newRingKey([]);
const two = newRingKey([one]);

test("what is sealed opens with the same purpose and context only", () => {
  const ring = new KeyRing([one]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, context) => {
      const sealed = ring.seal("mail", bytes, context);
      assert.deepEqual(new Uint8Array(ring.open("mail", sealed, context)), bytes);
      assert.throws(() => ring.open("webhook-secret", sealed, context));
      assert.throws(() => ring.open("mail", sealed, `${context}x`));
    }),
    { numRuns: 50 },
  );
});

test("one flipped bit anywhere makes sealed data unreadable", () => {
  const ring = new KeyRing([one]);
  const sealed = ring.seal("mail", "attack at dawn", "row");
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Buffer.from(sealed);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => ring.open("mail", altered, "row"), `bit ${bit}`);
  }
  for (let length = 0; length < sealed.length; length++)
    assert.throws(() => ring.open("mail", sealed.subarray(0, length), "row"));
});

test("after a rotation old data stays readable, new data uses the new key, and hashes are found under both", () => {
  const before = new KeyRing([one]);
  const sealed = before.seal("mail", "old", "row");
  const hash = before.hash("api-key-hash", "kk_x");
  const after = new KeyRing([two, one]);
  assert.equal(after.openText("mail", sealed, "row"), "old");
  assert.throws(() => before.open("mail", after.seal("mail", "new", "row"), "row"), /no key "2"/);
  const { all, current } = after.hashes("api-key-hash", "kk_x");
  assert.ok(all.some((candidate) => candidate.equals(hash)));
  assert.deepEqual(current, after.keyedHash("api-key-hash", "kk_x"));
  assert.ok(!after.hash("api-key-hash", "kk_x").equals(hash));
  assert.throws(() => new KeyRing([two]).open("mail", sealed, "row"), /no key "1"/);
});

test("a process that meets a key it does not know looks again", () => {
  const sealed = new KeyRing([two, one]).seal("mail", "new", "row");
  assert.equal(new KeyRing([one], () => [two, one]).openText("mail", sealed, "row"), "new");
});

test("a key that is named to seal with does so, wherever it stands, and one that is missing is refused", () => {
  const ring = new KeyRing([two, one]);
  ring.sealWith(one.id);
  assert.equal(ring.currentId, one.id);
  assert.equal(new KeyRing([one]).openText("mail", ring.seal("mail", "text", "row"), "row"), "text");
  assert.throws(() => ring.sealWith("3"), /no key "3"/);
  assert.equal(ring.currentId, one.id);
});

test("a ring survives being written and read, and a bad one is refused without showing its keys", () => {
  assert.deepEqual(parseRing(formatRing([two, one])), [two, one]);
  const secret = Buffer.alloc(32, 7).toString("base64");
  for (const bad of ["", secret, `:${secret}`, "1:c2hvcnQ=", `1:${secret},1:${secret}`, `UPPER:${secret}`]) {
    assert.throws(
      () => parseRing(bad),
      (error: Error) => !error.message.includes(secret),
    );
  }
});
