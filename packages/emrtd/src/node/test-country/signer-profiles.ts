import type { CurveName } from "../../crypto/curves.ts";
import { type DigestName, digests } from "../../crypto/digests.ts";
import type { SignatureScheme } from "../../crypto/signature-scheme.ts";
import type { RsaTestKeyName } from "./rsa-test-keys.ts";

/** `unlisted` publishes no revocation list. */
export type AuthorityId = "rsa" | "rsa_pss" | "nist" | "brainpool" | "unlisted";

export type KeySpecification =
  | { readonly kind: "rsa"; readonly key: RsaTestKeyName }
  | { readonly kind: "ec"; readonly curve: CurveName; readonly explicitParameters: boolean };

/** How a document signer of the test country signs, and its issuer. */
export type SignerProfile = {
  readonly id: string;
  readonly authority: AuthorityId;
  readonly key: KeySpecification;
  readonly scheme: SignatureScheme;
  /** The hash of the data groups. */
  readonly groupHash: DigestName;
};

function rsaProfile(key: RsaTestKeyName, hash: DigestName): SignerProfile {
  const id = `${key.replace("signer", "rsa-")}-${digests[hash].node}`;
  return {
    id,
    authority: "rsa",
    key: { kind: "rsa", key },
    scheme: { kind: "rsa_pkcs1", hash },
    groupHash: hash,
  };
}

function pssProfile(key: RsaTestKeyName, hash: DigestName, saltBytes: number, mgfHash = hash): SignerProfile {
  const suffix = mgfHash === hash ? "" : `-mgf1-${digests[mgfHash].node}`;
  return {
    id: `${key.replace("signer", "rsa-pss-")}-${digests[hash].node}${suffix}`,
    authority: "rsa_pss",
    key: { kind: "rsa", key },
    scheme: { kind: "rsa_pss", hash, mgfHash, saltBytes },
    groupHash: hash,
  };
}

function ecProfiles(authority: AuthorityId, curve: CurveName, hash: DigestName): readonly SignerProfile[] {
  return [false, true].map((explicitParameters) => ({
    id: `${curve}-${digests[hash].node}-${explicitParameters ? "explicit" : "named"}`,
    authority,
    key: { kind: "ec", curve, explicitParameters },
    scheme: { kind: "ecdsa", hash },
    groupHash: hash,
  }));
}

/** Every kind of signature that real documents carry. */
export const signerProfiles: readonly SignerProfile[] = [
  rsaProfile("signer2048", "SHA-1"),
  rsaProfile("signer2048", "SHA-224"),
  rsaProfile("signer2048", "SHA-256"),
  rsaProfile("signer3072", "SHA-384"),
  rsaProfile("signer4096", "SHA-512"),
  pssProfile("signer2048", "SHA-1", 20),
  pssProfile("signer2048", "SHA-224", 28),
  pssProfile("signer2048", "SHA-256", 32),
  pssProfile("signer3072", "SHA-384", 48),
  pssProfile("signer4096", "SHA-512", 64),
  pssProfile("signer2048", "SHA-256", 20, "SHA-1"),
  ...ecProfiles("nist", "secp224r1", "SHA-224"),
  ...ecProfiles("nist", "secp256r1", "SHA-1"),
  ...ecProfiles("nist", "secp256r1", "SHA-256"),
  ...ecProfiles("nist", "secp384r1", "SHA-384"),
  ...ecProfiles("nist", "secp521r1", "SHA-512"),
  ...ecProfiles("brainpool", "brainpoolP224r1", "SHA-1"),
  ...ecProfiles("brainpool", "brainpoolP224r1", "SHA-224"),
  ...ecProfiles("brainpool", "brainpoolP256r1", "SHA-256"),
  ...ecProfiles("brainpool", "brainpoolP320r1", "SHA-384"),
  ...ecProfiles("brainpool", "brainpoolP384r1", "SHA-384"),
  ...ecProfiles("brainpool", "brainpoolP512r1", "SHA-512"),
];

/** Signs like one of the above; only its authority differs. */
const unlistedProfile: SignerProfile = {
  id: "unlisted",
  authority: "unlisted",
  key: { kind: "ec", curve: "brainpoolP256r1", explicitParameters: true },
  scheme: { kind: "ecdsa", hash: "SHA-256" },
  groupHash: "SHA-256",
};

export function signerProfile(id: string): SignerProfile {
  const profile = [...signerProfiles, unlistedProfile].find((candidate) => candidate.id === id);
  if (profile === undefined) throw new TypeError(`The test country has no signer ${id}`);
  return profile;
}

/** The keys of the authorities. */
export const authorityKeys: Readonly<
  Record<AuthorityId, { key: KeySpecification; scheme: SignatureScheme }>
> = {
  rsa: { key: { kind: "rsa", key: "authority4096" }, scheme: { kind: "rsa_pkcs1", hash: "SHA-256" } },
  rsa_pss: {
    key: { kind: "rsa", key: "authorityPss4096" },
    scheme: { kind: "rsa_pss", hash: "SHA-256", mgfHash: "SHA-256", saltBytes: 32 },
  },
  nist: {
    key: { kind: "ec", curve: "secp384r1", explicitParameters: true },
    scheme: { kind: "ecdsa", hash: "SHA-384" },
  },
  brainpool: {
    key: { kind: "ec", curve: "brainpoolP384r1", explicitParameters: true },
    scheme: { kind: "ecdsa", hash: "SHA-384" },
  },
  unlisted: {
    key: { kind: "ec", curve: "brainpoolP384r1", explicitParameters: true },
    scheme: { kind: "ecdsa", hash: "SHA-384" },
  },
};
