import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../bytes.ts";
import { encode } from "../cbor/encode.ts";
import type { CborKey, CborMap, CborValue } from "../cbor/value.ts";
import { readSingle } from "./headers.ts";
import { verifyMac0 } from "./mac0.ts";
import { verifySign1 } from "./sign1.ts";

const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
  "sign",
  "verify",
]);
const payload = utf8("what is signed");

/** A right ECDSA signature over SHA-256, whatever the headers say of it. */
async function signed(headers: CborMap, more: CborMap = new Map()): Promise<boolean> {
  const protectedBytes = headers.size === 0 ? new Uint8Array() : encode(headers);
  const content = encode(["Signature1", protectedBytes, new Uint8Array(), payload]);
  const ecdsa = { name: "ECDSA", hash: "SHA-256" };
  const signature = new Uint8Array(await crypto.subtle.sign(ecdsa, keys.privateKey, content));
  const single = readSingle([protectedBytes, more, payload, signature]);
  return verifySign1(single, { publicKey: keys.publicKey, algorithm: "ES256" }, payload);
}

test("a signature counts under the name of its own algorithm, in the headers that it protects", async () => {
  const named = (algorithm: CborValue) => new Map<CborKey, CborValue>([[1, algorithm]]);
  for (const id of [-7, -9]) assert.equal(await signed(named(id)), true, String(id));
  for (const id of [-35, -36, -51, -52, -8, -257, 5, "ES256"])
    assert.equal(await signed(named(id)), false, String(id));
  assert.equal(await signed(new Map()), false, "no algorithm");
  assert.equal(await signed(new Map(), named(-7)), false, "in the headers that are not protected");
});

test("the names that tell the curve as well are those of its algorithm", async () => {
  for (const [namedCurve, hash, algorithm, ids] of [
    ["P-384", "SHA-384", "ES384", [-35, -51]],
    ["P-521", "SHA-512", "ES512", [-36, -52]],
  ] as const) {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve }, true, ["sign", "verify"]);
    for (const id of ids) {
      const protectedBytes = encode(new Map<CborKey, CborValue>([[1, id]]));
      const content = encode(["Signature1", protectedBytes, new Uint8Array(), payload]);
      const signature = await crypto.subtle.sign({ name: "ECDSA", hash }, pair.privateKey, content);
      const single = readSingle([protectedBytes, new Map(), payload, new Uint8Array(signature)]);
      assert.equal(await verifySign1(single, { publicKey: pair.publicKey, algorithm }, payload), true);
    }
  }
});

test("a MAC counts under its own name only, and at its full length", async () => {
  const key = await crypto.subtle.importKey(
    "raw",
    new Uint8Array(32),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign", "verify"],
  );
  const verified = async (algorithm: CborValue, length = 32) => {
    const protectedBytes = encode(new Map<CborKey, CborValue>([[1, algorithm]]));
    const content = encode(["MAC0", protectedBytes, new Uint8Array(), payload]);
    const tag = new Uint8Array(await crypto.subtle.sign("HMAC", key, content)).slice(0, length);
    return verifyMac0(readSingle([protectedBytes, new Map(), null, tag]), key, payload);
  };
  assert.equal(await verified(5), true);
  for (const other of [4, 6, 7, -7, "HS256"]) assert.equal(await verified(other), false, String(other));
  for (const length of [0, 8, 31]) assert.equal(await verified(5, length), false, String(length));
});
