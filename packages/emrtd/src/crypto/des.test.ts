import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";
import { fromHex, toHex } from "../bytes.ts";
import { retailMac, tripleDesCbcDecrypt, tripleDesCbcEncrypt } from "./des.ts";
import { padIso7816 } from "./padding.ts";

test("triple DES in CBC mode agrees with OpenSSL in both directions", () => {
  for (let round = 0; round < 200; round++) {
    const key = randomBytes(16);
    const iv = randomBytes(8);
    const data = randomBytes(8 * (1 + (round % 5)));
    const cipher = createCipheriv("des-ede-cbc", key, iv).setAutoPadding(false);
    const expected = Buffer.concat([cipher.update(data), cipher.final()]);
    assert.equal(toHex(tripleDesCbcEncrypt(key, iv, data)), toHex(expected));
    const decipher = createDecipheriv("des-ede-cbc", key, iv).setAutoPadding(false);
    const back = Buffer.concat([decipher.update(expected), decipher.final()]);
    assert.equal(toHex(tripleDesCbcDecrypt(key, iv, expected)), toHex(back));
  }
});

test("the retail MAC of ICAO Doc 9303-11 appendix D.3 comes out as printed", () => {
  const key = fromHex("7962D9ECE03D1ACD4C76089DCE131543");
  const data = fromHex("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2");
  assert.equal(toHex(retailMac(key, padIso7816(data, 8))), "5f1448eea8ad90a7");
});

test("data that is not whole blocks is refused", () => {
  const key = new Uint8Array(16);
  for (const length of [0, 7, 12])
    assert.throws(() => retailMac(key, new Uint8Array(length)), { code: "CRYPTO_INVALID" });
  assert.throws(() => tripleDesCbcEncrypt(key.subarray(1), new Uint8Array(8), new Uint8Array(8)), {
    code: "CRYPTO_INVALID",
  });
});
