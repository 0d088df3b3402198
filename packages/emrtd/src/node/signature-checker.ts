import {
  constants,
  createPublicKey,
  hash,
  type KeyObject,
  publicDecrypt,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { oids } from "../ber/oid.ts";
import { bitString, nullValue, octetString, oid, sequence, unsignedInteger } from "../ber/write.ts";
import { curveNamed } from "../crypto/curves.ts";
import { type DigestName, digests } from "../crypto/digests.ts";
import type { EcPublicKey, PublicKey, RsaPublicKey } from "../crypto/public-key.ts";
import type { EcdsaEncoding, SignatureChecker } from "../crypto/signature.ts";
import { type PssParameters, pssAlgorithm } from "../crypto/signature-scheme.ts";

function importSubjectPublicKeyInfo({ buffer, byteOffset, length }: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(buffer, byteOffset, length), format: "der", type: "spki" });
}

function importKey(algorithm: Uint8Array, key: Uint8Array): KeyObject {
  return importSubjectPublicKeyInfo(sequence(algorithm, bitString(key)));
}

function rsaKeyBits(key: RsaPublicKey): Uint8Array {
  return sequence(unsignedInteger(key.modulus), unsignedInteger(key.exponent));
}

function importPublicKey(key: PublicKey): KeyObject {
  if (key.plainEncoding !== null) return importSubjectPublicKeyInfo(key.plainEncoding);
  if (key.kind === "rsa") return importKey(sequence(oid(oids.rsaEncryption), nullValue()), rsaKeyBits(key));
  return importKey(sequence(oid(oids.ecPublicKey), oid(curveNamed(key.curve).oid)), key.point);
}

/**
 * The key marked for PSS with these parameters. OpenSSL then takes no other ones: both hashes must be these and the
 * salt as long. The hash of the mask can be told in no other way that Node reaches.
 */
function importPssKey(key: RsaPublicKey, parameters: PssParameters): KeyObject {
  return importKey(pssAlgorithm(parameters), rsaKeyBits(key));
}

type MarkedKey = {
  readonly parameters: PssParameters;
  readonly keyObject: KeyObject;
};

function sameParameters(one: PssParameters, other: PssParameters): boolean {
  return one.hash === other.hash && one.mgfHash === other.mgfHash && one.saltBytes === other.saltBytes;
}

/** Whatever node:crypto throws about a key or a signature means that there is no valid signature. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

export function createNodeSignatureChecker(): SignatureChecker {
  // Keys of the trust store live as long as the store and are reused;
  // importing one costs as much as a fast check.
  const imported = new WeakMap<PublicKey, KeyObject>();
  const keyObject = (key: PublicKey): KeyObject => {
    const known = imported.get(key);
    if (known !== undefined) return known;
    const fresh = importPublicKey(key);
    imported.set(key, fresh);
    return fresh;
  };
  // One for each key: it signs in one way, and what certificates of strangers claim must not pile up here.
  const marked = new WeakMap<RsaPublicKey, MarkedKey>();
  const markedKeyObject = (key: RsaPublicKey, parameters: PssParameters): KeyObject => {
    const known = marked.get(key);
    if (known !== undefined && sameParameters(known.parameters, parameters)) return known.keyObject;
    const keyObject = importPssKey(key, parameters);
    marked.set(key, { parameters, keyObject });
    return keyObject;
  };

  // Keys are passed directly where possible. For an object around a key Node catches two internal errors,
  // which take two thirds of the time of a check with a 2048-bit RSA key.

  return {
    hash: (name: DigestName, bytes: Uint8Array) => hash(digests[name].node, bytes, "buffer"),

    verifyRsaPkcs1: (key, name, message, signature) =>
      holds(() => verify(digests[name].node, message, keyObject(key), signature)),

    verifyRsaPkcs1WithoutNull: (key, name, message, signature) =>
      holds(() => {
        const block = publicDecrypt({ key: keyObject(key), padding: constants.RSA_NO_PADDING }, signature);
        const digestInfo = sequence(
          sequence(oid(digests[name].oid)),
          octetString(hash(digests[name].node, message, "buffer")),
        );
        const paddingLength = block.length - digestInfo.length - 3;
        if (paddingLength < 8) return false;
        const expected = Buffer.concat([
          Buffer.of(0, 1),
          Buffer.alloc(paddingLength, 0xff),
          Buffer.of(0),
          Buffer.from(digestInfo),
        ]);
        return timingSafeEqual(block, expected);
      }),

    verifyRsaPss: (key, parameters: PssParameters, message, signature) =>
      holds(() =>
        verify(digests[parameters.hash].node, message, markedKeyObject(key, parameters), signature),
      ),

    verifyEcdsa: (key: EcPublicKey, name, message, signature, encoding: EcdsaEncoding) =>
      holds(() => {
        const plain = keyObject(key);
        const form = encoding === "der" ? plain : { key: plain, dsaEncoding: "ieee-p1363" as const };
        return verify(digests[name].node, message, form, signature);
      }),
  };
}
