import assert from "node:assert/strict";
import test from "node:test";
import { keyProblem } from "./encryption-key.ts";

/** An odd number of `bits` bits as base64url, which RSA accepts as a modulus. */
function modulus(bits: number, last = 1): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> (bytes.length * 8 - bits);
  bytes[bytes.length - 1] = 0xfe + last;
  return bytes.toString("base64url");
}

const fieldOf = (key: { n?: string; e?: string; kid?: string }) =>
  keyProblem({ n: modulus(2048), e: "AQAB", kid: "k", ...key }, "k")?.field ?? null;

test("a modulus has 2048 to 8192 bits and is odd", () => {
  for (const bits of [2048, 4096, 8192]) assert.equal(fieldOf({ n: modulus(bits) }), null, `${bits} bits`);
  for (const bits of [2047, 8193]) {
    const problem = keyProblem({ n: modulus(bits), e: "AQAB", kid: "k" }, "k");
    assert.deepEqual([problem?.field, problem?.problem.includes(`it has ${bits}`)], ["jwk.n", true]);
  }
  assert.equal(fieldOf({ n: modulus(2048, 0) }), "jwk.n");
});

test("an exponent is odd and from 65537 to 4294967295", () => {
  const text = (number: number) => {
    const hex = number.toString(16);
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64url");
  };
  for (const exponent of [65_537, 65_539, 2 ** 32 - 1])
    assert.equal(fieldOf({ e: text(exponent) }), null, String(exponent));
  for (const exponent of [3, 65_535, 65_536, 65_538, 2 ** 32, 2 ** 32 + 1])
    assert.equal(fieldOf({ e: text(exponent) }), "jwk.e", String(exponent));
});

test("numbers are canonical base64url, and the key has the name that it is registered under", () => {
  for (const e of ["", "AAEAAQ", "AQAB=", "AQA+", "AQ AB"]) assert.equal(fieldOf({ e }), "jwk.e", e);
  for (const n of ["", `AA${modulus(2048)}`, `${modulus(2048)}=`]) assert.equal(fieldOf({ n }), "jwk.n");
  assert.equal(fieldOf({ kid: "other" }), "jwk.kid");
});
