import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { formatRing, KeyRing, loadedKey, newRingKey, parseRing } from "./key-ring.ts";

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

test("a ring is written on one line or several, with ids of up to 16 plain characters and secrets of at least 32 bytes", () => {
  const [a, b] = [
    { ...one, id: "a" },
    { ...two, id: "0123456789abcdef" },
  ];
  const [textOfA, textOfB] = [formatRing([a]), formatRing([b])];
  assert.deepEqual(parseRing(`\n ${textOfA} ,\n${textOfB}\n`), [a, b]);
  const secret = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64");
  assert.equal(parseRing(`1:${secret(32)}`)[0]?.secret.length, 32);
  for (const [text, problem] of [
    [`1:${secret(31)}`, /key "1" is shorter than 32 bytes/],
    [`${textOfA},${secret(32)}`, /key 2 has no id/],
    [`0123456789abcdef0:${secret(32)}`, /key 1 has no id/],
    [`a-b:${secret(32)}`, /key 1 has no id/],
    [" , ", /contains no key/],
    [`${textOfA},${textOfA}`, /same id/],
  ] as const)
    assert.throws(() => parseRing(text), problem);
});

test("a new key has the number after the highest, whatever other names keys have, and a secret of its own", () => {
  const idAfter = (...ids: string[]) => newRingKey(ids.map((id) => ({ id }))).id;
  assert.equal(idAfter(), "1");
  assert.equal(idAfter("2", "7", "3"), "8");
  assert.equal(idAfter("old", "1"), "2");
  assert.equal(idAfter("old"), "1");
  assert.equal(one.secret.length, 32);
  assert.ok(!one.secret.equals(two.secret));
});

test("a fingerprint tells secrets apart and holds nothing of them", () => {
  const { id, fingerprint } = loadedKey(one);
  assert.equal(id, one.id);
  assert.match(fingerprint, /^[0-9a-f]{32}$/);
  assert.deepEqual(loadedKey({ ...one }), { id, fingerprint });
  assert.notEqual(loadedKey({ id, secret: two.secret }).fingerprint, fingerprint);
  assert.ok(!one.secret.toString("hex").includes(fingerprint));
});

test("a ring that is replaced uses the new secret of a key, also where the old one was in use", () => {
  const ring = new KeyRing([one]);
  const before = ring.hash("token-hash", "x");
  ring.replace([{ id: one.id, secret: two.secret }]);
  assert.ok(!ring.hash("token-hash", "x").equals(before));
  assert.deepEqual(
    ring.hash("token-hash", "x"),
    new KeyRing([{ ...two, id: one.id }]).hash("token-hash", "x"),
  );
});

test("when the key that was named to seal with is gone the first one seals, and without keys nothing does", () => {
  const ring = new KeyRing([two, one]);
  ring.sealWith(one.id);
  assert.deepEqual(ring.hashes("token-hash", "x").current, ring.keyedHash("token-hash", "x"));
  assert.equal(ring.keyedHash("token-hash", "x").keyId, one.id);
  ring.replace([two]);
  assert.equal(ring.currentId, two.id);
  ring.replace([]);
  assert.throws(() => ring.currentId, /empty/);
  assert.throws(() => ring.hashes("token-hash", "x"), /empty/);
});

test("a key that was found by looking again stays, and looking is not repeated for it", () => {
  let looks = 0;
  const ring = new KeyRing([one], () => {
    looks += 1;
    return [two, one];
  });
  const sealed = new KeyRing([two]).seal("mail", "new", "row");
  for (let time = 0; time < 2; time++) assert.equal(ring.openText("mail", sealed, "row"), "new");
  assert.equal(looks, 1);
  assert.deepEqual(ring.keys, [one, two], "the first key seals as before");
  assert.deepEqual(ring.readAgain(), [two, one]);
  const unknown = new KeyRing([{ ...two, id: "9" }]).seal("mail", "x", "row");
  assert.throws(() => ring.open("mail", unknown, "row"), /no key "9"/);
  assert.deepEqual(ring.keys, [one, two], "one that is found nowhere is not added");
  assert.deepEqual(new KeyRing([one]).readAgain(), [one]);
});

test("sealed data that is cut off inside of its nonce or tag is refused as such", () => {
  const ring = new KeyRing([one]);
  const empty = ring.seal("mail", "", "row");
  assert.equal(ring.openText("mail", empty, "row"), "");
  assert.throws(() => ring.open("mail", empty.subarray(0, -1), "row"), /cut short/);
});
