import { oids } from "../ber/oid.ts";
import type { Tlv } from "../ber/read.ts";
import { contextConstructed, tags } from "../ber/tag.ts";
import { contextTag, integer, oid, sequence } from "../ber/write.ts";
import { EmrtdError } from "../emrtd-error.ts";
import { type DigestName, digestForOid, digestNames, digests, hashAlgorithm } from "./digests.ts";

/** MGF1 is the only mask generation function there is, so its hash is all that is named. */
export type PssParameters = {
  readonly hash: DigestName;
  readonly mgfHash: DigestName;
  readonly saltBytes: number;
};

export type SignatureScheme =
  | { readonly kind: "rsa_pkcs1"; readonly hash: DigestName }
  | ({ readonly kind: "rsa_pss" } & PssParameters)
  | { readonly kind: "ecdsa"; readonly hash: DigestName };

export const rsaPssOid = "1.2.840.113549.1.1.10";
const mgf1Oid = "1.2.840.113549.1.1.8";

const fixedSchemes: ReadonlyMap<string, SignatureScheme> = new Map(
  (["rsa_pkcs1", "ecdsa"] as const).flatMap((kind) =>
    digestNames.map((hash) => [digests[hash][kind], { kind, hash }] as const),
  ),
);

/** The AlgorithmIdentifier of keys and signatures that are marked for PSS. */
export function pssAlgorithm({ hash, mgfHash, saltBytes }: PssParameters): Uint8Array {
  return sequence(
    oid(rsaPssOid),
    sequence(
      contextTag(0, hashAlgorithm(hash)),
      contextTag(1, sequence(oid(mgf1Oid), hashAlgorithm(mgfHash))),
      contextTag(2, integer(saltBytes)),
    ),
  );
}

/** Salts are at most as large as the largest hash. Some libraries treat huge ones as "automatic". */
const maxSaltBytes = 512;

export function readHashAlgorithm(algorithm: Tlv): DigestName {
  const name = algorithm
    .expect(tags.sequence, "A hash algorithm")
    .at(0, "The name of a hash algorithm")
    .oid();
  const hash = digestForOid(name);
  if (hash === null)
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", `The hash algorithm ${name} is not supported`);
  return hash;
}

export type ReadScheme = {
  readonly scheme: SignatureScheme;
  /** The identifier named only a key type, so that the hash came from `digest`. */
  readonly hashFromDigest: boolean;
};

/**
 * The AlgorithmIdentifier of a signature. Signer infos may name only the key type; then the hash is `digest`,
 * that of the message digest. Certificates have none.
 */
export function readSignatureScheme(algorithm: Tlv, digest?: DigestName): ReadScheme {
  algorithm.expect(tags.sequence, "A signature algorithm");
  const name = algorithm.at(0, "The name of a signature algorithm").oid();
  const fixed = fixedSchemes.get(name);
  if (fixed !== undefined) return { scheme: fixed, hashFromDigest: false };
  if (name === rsaPssOid) return { scheme: readPss(algorithm.children()[1]), hashFromDigest: false };
  if (digest !== undefined && name === oids.rsaEncryption) {
    return { scheme: { kind: "rsa_pkcs1", hash: digest }, hashFromDigest: true };
  }
  if (digest !== undefined && name === oids.ecPublicKey) {
    return { scheme: { kind: "ecdsa", hash: digest }, hashFromDigest: true };
  }
  throw new EmrtdError("ALGORITHM_UNSUPPORTED", `The signature algorithm ${name} is not supported`);
}

function readPss(parameters: Tlv | undefined): SignatureScheme {
  let hash: DigestName = "SHA-1";
  let mgfHash: DigestName = "SHA-1";
  let saltBytes = 20;
  if (parameters !== undefined && parameters.tag !== tags.null) {
    parameters.expect(tags.sequence, "The parameters of a PSS signature");
    for (const field of parameters.children()) {
      const content = field.at(0, "A parameter of a PSS signature");
      if (field.tag === contextConstructed(0)) hash = readHashAlgorithm(content);
      else if (field.tag === contextConstructed(1)) mgfHash = readMgf1(content);
      else if (field.tag === contextConstructed(2)) saltBytes = content.smallInteger();
      else if (field.tag !== contextConstructed(3) || content.smallInteger() !== 1) {
        throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The parameters of a PSS signature are not supported");
      }
    }
  }
  if (saltBytes < 0 || saltBytes > maxSaltBytes) {
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The salt length of a PSS signature is out of range");
  }
  return { kind: "rsa_pss", hash, mgfHash, saltBytes };
}

function readMgf1(algorithm: Tlv): DigestName {
  const name = algorithm.expect(tags.sequence, "A mask generation function").at(0, "Its name").oid();
  if (name !== mgf1Oid) {
    throw new EmrtdError("ALGORITHM_UNSUPPORTED", "The mask generation function is not MGF1");
  }
  return readHashAlgorithm(algorithm.at(1, "The hash of the mask generation function"));
}

/** For reports: "ECDSA with SHA-256". */
export function describeScheme(scheme: SignatureScheme): string {
  switch (scheme.kind) {
    case "rsa_pkcs1":
      return `RSA PKCS#1 v1.5 with ${scheme.hash}`;
    case "rsa_pss":
      return `RSA-PSS with ${scheme.hash}`;
    case "ecdsa":
      return `ECDSA with ${scheme.hash}`;
  }
}
