import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import type { EncryptionKeyId } from "@assay/contract/ids";
import fc from "fast-check";
import { compactDecrypt } from "jose";
import { anyCharacter } from "../../../test/support/any-text.ts";
import { knownId } from "../../platform/kernel/ids.ts";
import { keyProblem } from "./encryption-key.ts";
import { sealPayload, sealPayloads } from "./seal-payload.ts";

const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
const { n = "", e = "" } = pair.publicKey.export({ format: "jwk" });
const key = { id: knownId<EncryptionKeyId>("whk_test"), keyId: 'schlüssel "1"', n, e };

test("another implementation opens what was sealed, whatever the text", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string({ unit: anyCharacter, maxLength: 3000 }), fc.json()),
      async (text) => {
        const sealed = sealPayload(key, text);
        assert.match(sealed, /^[\w-]+\.[\w-]+\.[\w-]+\.[\w-]*\.[\w-]+$/);
        const { plaintext, protectedHeader } = await compactDecrypt(sealed, pair.privateKey);
        assert.equal(Buffer.from(plaintext).toString("utf8"), Buffer.from(text).toString("utf8"));
        assert.deepEqual(protectedHeader, { alg: "RSA-OAEP-256", enc: "A256GCM", kid: key.keyId });
      },
    ),
    { numRuns: 50 },
  );
});

test("no two seals share a content key, a nonce or a text", async () => {
  const sealed = await sealPayloads(Array.from({ length: 40 }, () => ({ key, plaintext: () => "the same" })));
  for (const part of [1, 2, 3, 4]) assert.equal(new Set(sealed.map((jwe) => jwe.split(".")[part])).size, 40);
});

test("many seals leave a turn to others after every eight", async () => {
  let turn = 0;
  let isOver = false;
  const others = () => {
    turn += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  const turns: number[] = [];
  const plaintext = () => {
    turns.push(turn);
    return "x";
  };
  await sealPayloads(Array.from({ length: 24 }, () => ({ key, plaintext })));
  isOver = true;
  const atOnce = [...Map.groupBy(turns, (each) => each).values()].map(({ length }) => length);
  assert.deepEqual(atOnce, [8, 8, 8]);
});

test("a key is imported once, although it seals many times", () => {
  let reads = 0;
  const counted = {
    ...key,
    id: knownId<EncryptionKeyId>("whk_counted"),
    get n() {
      reads += 1;
      return n;
    },
  };
  for (let time = 0; time < 3; time++) sealPayload(counted, "x");
  assert.equal(reads, 1);
});

test("a changed character anywhere is noticed", async () => {
  const sealed = sealPayload(key, JSON.stringify({ claims: { family_name: "A" } }));
  await fc.assert(
    fc.asyncProperty(fc.nat(sealed.length - 1), async (at) => {
      const other = sealed[at] === "A" ? "Q" : "A";
      // The last character of a part may hold bits that mean nothing.
      if (sealed[at] === "." || sealed[at + 1] === "." || at === sealed.length - 1) return;
      await assert.rejects(
        compactDecrypt(sealed.slice(0, at) + other + sealed.slice(at + 1), pair.privateKey),
      );
    }),
    { numRuns: 40 },
  );
});

test("a key is judged without ever throwing, and only keys that work are accepted", () => {
  const text = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.uint8Array({ maxLength: 1100 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
    fc.constantFrom(n, e, "AQAB", ""),
  );
  fc.assert(
    fc.property(text, text, fc.constantFrom("k", "other"), (modulus, exponent, kid) => {
      const problem = keyProblem({ n: modulus, e: exponent, kid }, "k");
      if (problem === null)
        sealPayload({ id: knownId(`whk_${modulus}${exponent}`), keyId: "k", n: modulus, e: exponent }, "x");
      else assert.match(problem.field, /^jwk\.(n|e|kid)$/);
    }),
  );
  assert.equal(keyProblem({ n, e, kid: "k" }, "k"), null);
});
