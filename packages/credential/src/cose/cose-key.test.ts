import assert from "node:assert/strict";
import { test } from "node:test";
import type { CborKey, CborValue } from "../cbor/value.ts";
import { CredentialError } from "../credential-error.ts";
import { importCoseKey, readCoseKey, writeCoseKey } from "./cose-key.ts";

test("a point may be written by its first coordinate and the sign of the second", async () => {
  for (const namedCurve of ["P-256", "P-384", "P-521"]) {
    const { publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve }, true, [
      "sign",
      "verify",
    ]);
    const whole = new Map<CborKey, CborValue>(await writeCoseKey(publicKey));
    const y = whole.get(-3);
    assert.ok(y instanceof Uint8Array);
    const sign = ((y.at(-1) ?? 0) & 1) === 1;
    const exported = async (isOdd: boolean) => {
      const key = await importCoseKey(readCoseKey(new Map(whole).set(-3, isOdd)), "ECDSA");
      return Buffer.from(await crypto.subtle.exportKey("raw", key));
    };
    const expected = Buffer.from(await crypto.subtle.exportKey("raw", publicKey));
    assert.deepEqual(await exported(sign), expected, namedCurve);
    assert.notDeepEqual(await exported(!sign), expected, namedCurve);
  }
});

test("a coordinate of another length and a key that is no public one are malformed", () => {
  const key = new Map<CborKey, CborValue>([
    [1, 2],
    [-1, 1],
    [-2, new Uint8Array(32)],
    [-3, new Uint8Array(32)],
  ]);
  assert.equal(readCoseKey(key).algorithm, "ES256");
  const malformed = (value: CborValue | undefined) =>
    assert.throws(
      () => readCoseKey(value),
      (error) => error instanceof CredentialError && error.code === "malformed",
    );
  for (const at of [-2, -3])
    for (const bytes of [new Uint8Array(31), new Uint8Array(33), "x", 1])
      malformed(new Map(key).set(at, bytes));
  for (const value of [undefined, 1, [], new Map(key).set(-4, new Uint8Array(32))]) malformed(value);
});
