import assert from "node:assert/strict";
import {
  constants,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  privateEncrypt,
  sign,
} from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { checker, flipBit } from "../../test/support/test-country.ts";
import { oids } from "../ber/oid.ts";
import { readWhole } from "../ber/read.ts";
import { bitString, integer, nullValue, octetString, oid, sequence } from "../ber/write.ts";
import { concat, uintBytes, utf8 } from "../bytes.ts";
import { isEmrtdError } from "../emrtd-error.ts";
import { ecSigningKey, rsaSigningKey, signatureAlgorithm } from "../node/test-country/signing-key.ts";
import { checkSignature, strictSignatures } from "./check-signature.ts";
import { curveNamed, curves } from "./curves.ts";
import { digests, digestNames as hashes } from "./digests.ts";
import { readPublicKey } from "./public-key.ts";
import { readSignatureScheme, type SignatureScheme } from "./signature-scheme.ts";

const signedMessage = utf8("a message");
const tolerant = { digestInfoWithoutNull: true, rawEcdsa: true, wrongCurveOfSameSize: false };

for (const curve of curves) {
  test(`${curve.name}: named and explicit parameters are the same curve, and both check signatures`, () => {
    const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
    for (const explicitParameters of [false, true]) {
      const signer = ecSigningKey("signature tests", "key", curve.name, { explicitParameters });
      const key = readPublicKey(signer.subjectPublicKeyInfo);
      assert.ok(key.kind === "ec");
      assert.equal(key.curve, curve.name);
      assert.equal(key.explicitParameters, explicitParameters);
      const signature = signer.sign(scheme, signedMessage);
      assert.equal(
        checkSignature(checker, { scheme, key, message: signedMessage, signature }, strictSignatures).valid,
        true,
      );
      const other = { scheme, key, message: utf8("another"), signature };
      assert.equal(checkSignature(checker, other, tolerant).valid, false);
    }
  });
}

test("signatures of node:crypto's own random kind are accepted as ours are", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "brainpoolP320r1" });
  const key = readPublicKey(new Uint8Array(publicKey.export({ format: "der", type: "spki" })));
  const scheme = { kind: "ecdsa", hash: "SHA-512" } as const;
  const der = new Uint8Array(sign("sha512", signedMessage, privateKey));
  assert.deepEqual(
    checkSignature(checker, { scheme, key, message: signedMessage, signature: der }, strictSignatures),
    {
      valid: true,
      warnings: [],
    },
  );
  const raw = new Uint8Array(sign("sha512", signedMessage, { key: privateKey, dsaEncoding: "ieee-p1363" }));
  const signed = { scheme, key, message: signedMessage, signature: raw };
  assert.deepEqual(checkSignature(checker, signed, tolerant).warnings, ["raw_ecdsa_signature"]);
  assert.equal(checkSignature(checker, signed, strictSignatures).valid, false);
});

test("a key that states the wrong curve of the same size is used only where the policy allows it", () => {
  const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
  const signer = ecSigningKey("signature tests", "key", "brainpoolP256r1", { explicitParameters: false });
  const right = readPublicKey(signer.subjectPublicKeyInfo);
  assert.ok(right.kind === "ec");
  const wrong = { ...right, curve: "secp256r1", plainEncoding: null } as const;
  const signed = {
    scheme,
    key: wrong,
    message: signedMessage,
    signature: signer.sign(scheme, signedMessage),
  };
  assert.equal(checkSignature(checker, signed, tolerant).valid, false);
  const verdict = checkSignature(checker, signed, { ...tolerant, wrongCurveOfSameSize: true });
  assert.deepEqual(verdict, { valid: true, warnings: ["wrong_curve_of_same_size"] });
});

test("PSS is checked with its own hashes and salt length and no other", () => {
  const signer = rsaSigningKey("signer2048");
  const key = readPublicKey(signer.subjectPublicKeyInfo);
  for (const hash of hashes) {
    for (const mgfHash of hashes) {
      const scheme: SignatureScheme = { kind: "rsa_pss", hash, mgfHash, saltBytes: 20 };
      const signature = signer.sign(scheme, signedMessage);
      const check = (other: SignatureScheme) =>
        checkSignature(checker, { scheme: other, key, message: signedMessage, signature }, tolerant).valid;
      assert.equal(check(scheme), true, `${hash} ${mgfHash}`);
      for (const saltBytes of [0, 19, 21, 500])
        assert.equal(check({ ...scheme, saltBytes }), false, `${hash} ${mgfHash} ${saltBytes}`);
      assert.equal(check(scheme), true, "what was checked in between changes nothing");
      assert.equal(check({ ...scheme, mgfHash: mgfHash === "SHA-1" ? "SHA-256" : "SHA-1" }), false);
      assert.equal(check({ kind: "rsa_pkcs1", hash }), false);
    }
  }
});

test("PSS without a salt, or with the longest that fits, is checked with that length and no other", () => {
  const signer = rsaSigningKey("signer2048");
  const key = readPublicKey(signer.subjectPublicKeyInfo);
  for (const hash of hashes) {
    const longest = 256 - 2 - createHash(hash.replace("-", "")).digest().length;
    for (const saltBytes of [0, longest]) {
      const scheme: SignatureScheme = { kind: "rsa_pss", hash, mgfHash: hash, saltBytes };
      const signature = signer.sign(scheme, signedMessage);
      const check = (length: number) =>
        checkSignature(
          checker,
          { scheme: { ...scheme, saltBytes: length }, key, message: signedMessage, signature },
          tolerant,
        ).valid;
      assert.equal(check(saltBytes), true, `${hash} ${saltBytes}`);
      for (const other of [0, 1, 20, longest - 1, longest, longest + 1])
        if (other !== saltBytes) assert.equal(check(other), false, `${hash} ${saltBytes} ${other}`);
    }
  }
});

test("a DigestInfo without NULL is compared whole: nothing that merely looks like one passes", () => {
  const signer = rsaSigningKey("signer2048");
  const key = readPublicKey(signer.subjectPublicKeyInfo);
  const privateKey = createPrivateKey({ key: Buffer.from(signer.pkcs8), format: "der", type: "pkcs8" });
  const digest = createHash("sha256").update(signedMessage).digest();
  const scheme = { kind: "rsa_pkcs1", hash: "SHA-256" } as const;
  const raw = (block: Uint8Array) =>
    new Uint8Array(privateEncrypt({ key: privateKey, padding: constants.RSA_NO_PADDING }, block));
  const padded = (info: Uint8Array, filler = 0xff) =>
    concat(Uint8Array.of(0, 1), new Uint8Array(256 - 3 - info.length).fill(filler), Uint8Array.of(0), info);
  const check = (signature: Uint8Array) =>
    checkSignature(checker, { scheme, key, message: signedMessage, signature }, tolerant);
  const withoutNull = sequence(sequence(oid(digests["SHA-256"].oid)), octetString(digest));
  assert.deepEqual(check(raw(padded(withoutNull))).warnings, ["digest_info_without_null"]);
  assert.equal(
    checkSignature(
      checker,
      { scheme, key, message: signedMessage, signature: raw(padded(withoutNull)) },
      strictSignatures,
    ).valid,
    false,
  );
  // Bleichenbacher's forgery: short padding and the rest behind the hash.
  const short = concat(Uint8Array.of(0, 1), new Uint8Array(8).fill(0xff), Uint8Array.of(0), withoutNull);
  assert.equal(check(raw(concat(short, new Uint8Array(256 - short.length)))).valid, false);
  assert.equal(check(raw(padded(withoutNull, 0xfe))).valid, false);
  assert.equal(
    check(raw(padded(sequence(sequence(oid(digests["SHA-1"].oid)), octetString(digest))))).valid,
    false,
  );
  const withParameters = sequence(
    sequence(oid(digests["SHA-256"].oid), octetString(new Uint8Array(4))),
    octetString(digest),
  );
  assert.equal(check(raw(padded(withParameters))).valid, false);
});

test("a signature with any bit flipped, cut, or of another key is invalid", () => {
  const signers = [
    rsaSigningKey("signer2048"),
    ecSigningKey("signature tests", "key", "secp521r1", { explicitParameters: true }),
  ];
  for (const signer of signers) {
    const key = readPublicKey(signer.subjectPublicKeyInfo);
    const scheme: SignatureScheme =
      key.kind === "rsa" ? { kind: "rsa_pkcs1", hash: "SHA-256" } : { kind: "ecdsa", hash: "SHA-512" };
    const signature = signer.sign(scheme, signedMessage);
    const check = (other: Uint8Array) =>
      checkSignature(checker, { scheme, key, message: signedMessage, signature: other }, tolerant).valid;
    for (let bit = 0; bit < signature.length * 8; bit += 11)
      assert.equal(check(flipBit(signature, bit)), false);
    for (const length of [0, 1, signature.length - 1])
      assert.equal(check(signature.subarray(0, length)), false);
    assert.equal(check(concat(signature, Uint8Array.of(0))), false);
  }
});

function explicitKey(change: Partial<Record<"p" | "a" | "b" | "gx" | "n" | "cofactor", bigint>>): Uint8Array {
  const curve = { ...curveNamed("secp256r1"), cofactor: 1n, ...change };
  const field = (value: bigint) => octetString(uintBytes(value, 32));
  const parameters = sequence(
    integer(1),
    sequence(oid(oids.primeField), integer(curve.p)),
    sequence(field(curve.a), field(curve.b)),
    octetString(Uint8Array.of(4), uintBytes(curve.gx, 32), uintBytes(curve.gy, 32)),
    integer(curve.n),
    integer(curve.cofactor),
  );
  const point = concat(Uint8Array.of(4), uintBytes(curve.gx, 32), uintBytes(curve.gy, 32));
  return sequence(sequence(oid(oids.ecPublicKey), parameters), bitString(point));
}

test("explicit parameters that differ from a known curve in anything are refused, a forged generator above all", () => {
  assert.equal(readPublicKey(explicitKey({})).kind, "ec");
  const { a, b, gx, n, p } = curveNamed("secp256r1");
  for (const change of [
    { gx: gx + 1n },
    { a: a + 1n },
    { b: b + 1n },
    { n: n - 2n },
    { p: p - 2n },
    { cofactor: 2n },
  ]) {
    assert.throws(() => readPublicKey(explicitKey(change)), isEmrtdError);
  }
});

test("RSA keys that are too short or have an exponent that signs nothing are refused", () => {
  const key = (modulus: bigint, exponent: bigint) =>
    sequence(
      sequence(oid(oids.rsaEncryption), nullValue()),
      bitString(sequence(integer(modulus), integer(exponent))),
    );
  assert.equal(readPublicKey(key(2n ** 1024n - 1n, 3n)).kind, "rsa");
  for (const [modulus, exponent] of [
    [2n ** 1023n - 1n, 3n],
    [2n ** 2048n - 1n, 1n],
    [2n ** 2048n - 1n, 4n],
    [2n ** 9000n, 3n],
  ] as const) {
    assert.throws(() => readPublicKey(key(modulus, exponent)), isEmrtdError);
  }
});

test("an algorithm reads back as the scheme it was written for", () => {
  const hash = fc.constantFrom(...hashes);
  const scheme: fc.Arbitrary<SignatureScheme> = fc.oneof(
    hash.map((name) => ({ kind: "rsa_pkcs1", hash: name }) as const),
    hash.map((name) => ({ kind: "ecdsa", hash: name }) as const),
    fc
      .tuple(hash, hash, fc.nat(512))
      .map(([name, mgfHash, saltBytes]) => ({ kind: "rsa_pss", hash: name, mgfHash, saltBytes }) as const),
  );
  fc.assert(
    fc.property(scheme, (expected) => {
      assert.deepEqual(readSignatureScheme(readWhole(signatureAlgorithm(expected))).scheme, expected);
    }),
  );
  assert.throws(() => readSignatureScheme(readWhole(sequence(oid(oids.rsaEncryption)))), isEmrtdError);
  assert.deepEqual(readSignatureScheme(readWhole(sequence(oid("1.2.840.113549.1.1.10")))).scheme, {
    kind: "rsa_pss",
    hash: "SHA-1",
    mgfHash: "SHA-1",
    saltBytes: 20,
  });
});
