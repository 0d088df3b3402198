import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { ecKey, sampleFiles, sampleKey } from "../../test/support/sample-document.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { sequence, unsignedInteger } from "../ber/write.ts";
import { bytesToBigInt, concat, fromHex, uintBytes } from "../bytes.ts";
import { openChip } from "../reader/open-chip.ts";
import { readPkcs8 } from "../virtual/private-key.ts";
import { signChallenge } from "../virtual/sign-challenge.ts";
import { createVirtualChip } from "../virtual/virtual-chip.ts";
import { checkRecoveredMessage, verifyActiveAuthentication } from "./verify-active-authentication.ts";

const givenChallenge = fromHex("F173589974BF40C6");

function rsaKey(modulusLength: number) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength });
  return {
    spki: publicKey.export({ format: "der", type: "spki" }),
    pkcs8: privateKey.export({ format: "der", type: "pkcs8" }),
  };
}

const rsaChipKey = rsaKey(1024);
const hashes = ["SHA-1", "SHA-224", "SHA-256", "SHA-384", "SHA-512"] as const;

test("ICAO Doc 9303-11 appendix F: the recovered message of the worked example verifies", () => {
  const message = fromHex(`
    6A9D2784A67F8E7C659973EA1AEA25D95B6C8F91E5002F369F0FBDCE8A3CEC1991B543F1696546C5524CF23A5303CD6C
    98599F40B79F377B5F3A1406B3B4D8F96784D23AA88DB7E1032A405E69325FA91A6E86F5C71AEA978264C4A207446DAD
    4E7292E2DCDA3024B47DA8C063AA1E6D22FBD976AB0FE73D94D2D9C6D88127BC`);
  assert.equal(checkRecoveredMessage(message, givenChallenge), "SHA-1");
  for (let index = 0; index < message.length; index++) {
    const changed = message.slice();
    changed[index] = (changed[index] ?? 0) ^ 1;
    assert.equal(checkRecoveredMessage(changed, givenChallenge), null, `byte ${index}`);
  }
  assert.equal(checkRecoveredMessage(message, fromHex("F173589974BF40C7")), null);
});

test("RSA signatures with every trailer verify, and only for their challenge", () => {
  const key = readPkcs8(rsaChipKey.pkcs8);
  const random = seededRandom("aa");
  const variants = [
    { hash: "SHA-1" },
    { hash: "SHA-1", explicitTrailer: true },
    { hash: "SHA-224" },
    { hash: "SHA-256" },
    { hash: "SHA-384" },
    { hash: "SHA-512" },
  ] as const;
  for (const variant of variants) {
    const signature = signChallenge(key, givenChallenge, random, variant);
    assert.deepEqual(
      verifyActiveAuthentication({ publicKey: rsaChipKey.spki, challenge: givenChallenge, signature }),
      {
        verified: true,
        keyKind: "RSA",
        keyBits: 1024,
        hash: variant.hash,
        encoding: "iso-9796-2",
      },
    );
    const other = givenChallenge.map((byte) => byte ^ 1);
    assert.deepEqual(
      verifyActiveAuthentication({ publicKey: rsaChipKey.spki, challenge: other, signature }),
      {
        verified: false,
        reason: "SIGNATURE_INVALID",
      },
    );
  }
});

test("leading zeros of an RSA signature may be dropped or added", () => {
  const key = readPkcs8(rsaChipKey.pkcs8);
  const random = seededRandom("zeros");
  let signature = signChallenge(key, givenChallenge, random);
  // One signature in 256 starts with a zero, or a few less because of the size of the modulus.
  for (let attempt = 0; signature[0] !== 0 && attempt < 5000; attempt++) {
    signature = signChallenge(key, givenChallenge, random);
  }
  assert.equal(signature[0], 0, "a signature with a leading zero was found");
  for (const variant of [signature, signature.subarray(1), concat(Uint8Array.of(0), signature)]) {
    const verdict = verifyActiveAuthentication({
      publicKey: rsaChipKey.spki,
      challenge: givenChallenge,
      signature: variant,
    });
    assert.equal(verdict.verified, true);
  }
});

test("the smaller of the two signatures that ISO/IEC 9796-2 allows verifies", () => {
  const key = readPkcs8(rsaChipKey.pkcs8);
  assert.ok(key.kind === "RSA");
  const signature = signChallenge(key, givenChallenge, seededRandom("smaller"));
  const other = uintBytes(key.modulus - bytesToBigInt(signature), 128);
  const verdict = verifyActiveAuthentication({
    publicKey: rsaChipKey.spki,
    challenge: givenChallenge,
    signature: other,
  });
  assert.equal(verdict.verified, true);
});

test("total recovery is refused because it would not cover the challenge", () => {
  const message = fromHex(`4A${"11".repeat(106)}${"00".repeat(20)}BC`);
  assert.equal(checkRecoveredMessage(message, givenChallenge), null);
});

test("short keys are refused", () => {
  const short = rsaKey(768);
  const weak = signChallenge(readPkcs8(short.pkcs8), givenChallenge, seededRandom("weak"));
  assert.deepEqual(
    verifyActiveAuthentication({ publicKey: short.spki, challenge: givenChallenge, signature: weak }),
    {
      verified: false,
      reason: "KEY_TOO_SHORT",
    },
  );
});

for (const curve of [
  "prime192v1",
  "secp224r1",
  "prime256v1",
  "secp384r1",
  "secp521r1",
  "brainpoolP256r1",
  "brainpoolP320r1",
]) {
  test(`ECDSA on ${curve} verifies in both encodings, with named and explicit parameters`, () => {
    for (const parameters of ["named", "explicit"] as const) {
      const key = ecKey(curve, parameters);
      const privateKey = readPkcs8(key.pkcs8);
      for (const encoding of ["plain", "der"] as const) {
        for (const hash of curve === "prime256v1" ? hashes : (["SHA-256"] as const)) {
          const signature = signChallenge(privateKey, givenChallenge, seededRandom(curve), {
            encoding,
            hash,
          });
          const input = { publicKey: key.spki, challenge: givenChallenge, signature };
          const verdict = verifyActiveAuthentication(input);
          assert.ok(verdict.verified && verdict.encoding === encoding && verdict.hash === hash);
          const changed = signature.slice();
          const last = changed.length - 1;
          changed[last] = (changed[last] ?? 0) ^ 1;
          assert.equal(verifyActiveAuthentication({ ...input, signature: changed }).verified, false);
        }
      }
    }
  });
}

test("the hash that DG14 names is the only one that counts", () => {
  const key = ecKey("prime256v1");
  const signature = signChallenge(readPkcs8(key.pkcs8), givenChallenge, seededRandom("named"), {
    hash: "SHA-1",
  });
  const input = { publicKey: key.spki, challenge: givenChallenge, signature };
  assert.equal(
    verifyActiveAuthentication({ ...input, signatureAlgorithm: "0.4.0.127.0.7.1.1.4.1.1" }).verified,
    true,
  );
  assert.equal(
    verifyActiveAuthentication({ ...input, signatureAlgorithm: "0.4.0.127.0.7.1.1.4.1.3" }).verified,
    false,
  );
});

test("degenerate ECDSA signatures never verify", () => {
  const key = ecKey("prime256v1");
  const zero = new Uint8Array(64);
  const order = fromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
  for (const signature of [
    zero,
    concat(order, order),
    new Uint8Array(0),
    sequence(unsignedInteger(zero), unsignedInteger(order)),
    Uint8Array.of(0x30),
    Uint8Array.of(0x30, 0x80),
  ]) {
    assert.deepEqual(
      verifyActiveAuthentication({ publicKey: key.spki, challenge: givenChallenge, signature }),
      {
        verified: false,
        reason: "SIGNATURE_INVALID",
      },
    );
  }
});

test("a genuine chip signs and its copy cannot", async () => {
  for (const [privateKey, spki] of [
    [rsaChipKey.pkcs8, rsaChipKey.spki],
    [rsaKey(2048), undefined],
  ] as const) {
    const pkcs8 = privateKey instanceof Uint8Array ? privateKey : privateKey.pkcs8;
    const publicKey = spki ?? (privateKey instanceof Uint8Array ? privateKey : privateKey.spki);
    const options = { files: sampleFiles(), mrzKey: sampleKey, activeAuthentication: { privateKey: pkcs8 } };
    for (const quirks of [{}, { refuseExtendedLength: true }]) {
      const chip = await openChip(createVirtualChip({ ...options, quirks }), { mrz: sampleKey });
      // A long read makes the reader find out what the chip can carry.
      await chip.readFile("DG2");
      const signature = await chip.activeAuthentication(givenChallenge);
      assert.equal(
        verifyActiveAuthentication({ publicKey, challenge: givenChallenge, signature }).verified,
        true,
      );
    }
    const copy = await openChip(createVirtualChip({ ...options, clone: true }), { mrz: sampleKey });
    await assert.rejects(copy.activeAuthentication(givenChallenge), {
      code: "CHIP_STATUS",
      statusWord: 0x6a88,
    });
  }
});
