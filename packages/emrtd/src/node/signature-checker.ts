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
import {
  bitString,
  contextTag,
  integer,
  nullValue,
  octetString,
  oid,
  sequence,
  unsignedInteger,
} from "../ber/write.ts";
import { curveNamed } from "../crypto/curves.ts";
import type { EcPublicKey, PublicKey, RsaPublicKey } from "../crypto/public-key.ts";
import type { EcdsaEncoding, SignatureChecker } from "../crypto/signature.ts";
import { type PssParameters, signatureOids } from "../crypto/signature-scheme.ts";
import { type DigestName, digestOid } from "../lds/lds-security-object.ts";

const nodeHashes: Readonly<Record<DigestName, string>> = {
  "SHA-1": "sha1",
  "SHA-224": "sha224",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};

function importKey(algorithm: Uint8Array, key: Uint8Array): KeyObject {
  return createPublicKey({
    key: Buffer.from(sequence(algorithm, bitString(key))),
    format: "der",
    type: "spki",
  });
}

function rsaKeyBits(key: RsaPublicKey): Uint8Array {
  return sequence(unsignedInteger(key.modulus), unsignedInteger(key.exponent));
}

function importPublicKey(key: PublicKey): KeyObject {
  if (key.plainEncoding !== null) {
    const { buffer, byteOffset, length } = key.plainEncoding;
    return createPublicKey({ key: Buffer.from(buffer, byteOffset, length), format: "der", type: "spki" });
  }
  if (key.kind === "rsa") return importKey(sequence(oid(oids.rsaEncryption), nullValue()), rsaKeyBits(key));
  return importKey(sequence(oid(oids.ecPublicKey), oid(curveNamed(key.curve).oid)), key.point);
}

/**
 * OpenSSL takes the hash of the mask from a key that is marked for PSS and from nowhere else that Node reaches, so a
 * signature whose two hashes differ is checked with the key marked accordingly.
 */
function importPssKey(key: RsaPublicKey, { hash: digest, mgfHash, saltBytes }: PssParameters): KeyObject {
  const hashAlgorithm = (name: DigestName) => sequence(oid(digestOid(name)), nullValue());
  const parameters = sequence(
    contextTag(0, hashAlgorithm(digest)),
    contextTag(1, sequence(oid(signatureOids.mgf1), hashAlgorithm(mgfHash))),
    contextTag(2, integer(saltBytes)),
  );
  return importKey(sequence(oid(signatureOids.rsaPss), parameters), rsaKeyBits(key));
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
  // Keys of the trust store live as long as the store and are used again and again; importing one costs as much as a
  // fast signature check.
  const imported = new WeakMap<PublicKey, KeyObject>();
  const keyObject = (key: PublicKey): KeyObject => {
    const known = imported.get(key);
    if (known !== undefined) return known;
    const fresh = importPublicKey(key);
    imported.set(key, fresh);
    return fresh;
  };

  return {
    hash: (name: DigestName, bytes: Uint8Array) => new Uint8Array(hash(nodeHashes[name], bytes, "buffer")),

    verifyRsaPkcs1: (key, name, message, signature) =>
      holds(() => verify(nodeHashes[name], message, keyObject(key), signature)),

    verifyRsaPkcs1WithoutNull: (key, name, message, signature) =>
      holds(() => {
        const block = publicDecrypt({ key: keyObject(key), padding: constants.RSA_NO_PADDING }, signature);
        const digestInfo = sequence(
          sequence(oid(digestOid(name))),
          octetString(hash(nodeHashes[name], message, "buffer")),
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
        verify(
          nodeHashes[parameters.hash],
          message,
          {
            key: parameters.hash === parameters.mgfHash ? keyObject(key) : importPssKey(key, parameters),
            padding: constants.RSA_PKCS1_PSS_PADDING,
            saltLength: parameters.saltBytes,
          },
          signature,
        ),
      ),

    verifyEcdsa: (key: EcPublicKey, name, message, signature, encoding: EcdsaEncoding) =>
      holds(() =>
        verify(
          nodeHashes[name],
          message,
          { key: keyObject(key), dsaEncoding: encoding === "der" ? "der" : "ieee-p1363" },
          signature,
        ),
      ),
  };
}
