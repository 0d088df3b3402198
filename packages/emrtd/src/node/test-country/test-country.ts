import { createHash } from "node:crypto";
import type { TrustRecord } from "../../trust/trust-record.ts";
import {
  type Issuer,
  issueCertificate,
  issueRevocationList,
  type TestName,
  type Validity,
} from "./issue-certificate.ts";
import { type MessageSigner, signMasterList } from "./sign-message.ts";
import {
  type AuthorityId,
  authorityKeys,
  type KeySpecification,
  type SignerProfile,
} from "./signer-profiles.ts";
import { ecSigningKey, rsaSigningKey, type SigningKey } from "./signing-key.ts";

export const testCountry = { twoLetters: "UT", threeLetters: "UTO", name: "Utopia" } as const;

export const defaultTestSeed = "Utopia issues test documents only";

/** `impostor`: an untrusted state with the same names and other keys. */
type Realm = "utopia" | "impostor";

export type TestCountry = {
  readonly seed: string;
  /** All dates follow from it, so that documents stay the same for a year. */
  readonly year: number;
  /** Self-signed, each with a revocation list. */
  readonly authorityCertificates: ReadonlyMap<AuthorityId, Uint8Array>;
  /** Self-signed. It publishes no revocation list. */
  readonly unlistedAuthority: Uint8Array;
  /** The authority `nist`, certified by its predecessor `brainpool`. */
  readonly linkCertificate: Uint8Array;
  readonly revocationLists: readonly Uint8Array[];
  /** A signer and its certificate. `revoked` ones are on the revocation list of their authority. */
  readonly documentSigner: (profile: SignerProfile, variant?: SignerVariant) => MessageSigner;
  readonly masterListSigner: () => MessageSigner;
  readonly masterList: () => Uint8Array;
  /** When documents were signed. */
  readonly signedAt: Date;
};

export type SignerVariant = {
  readonly revoked?: boolean;
  readonly realm?: Realm;
};

function dayOf(year: number, month: number, day: number): Date {
  return new Date(Date.UTC(year, month - 1, day));
}

function makeKey(seed: string, label: string, key: KeySpecification): SigningKey {
  return key.kind === "rsa" ? rsaSigningKey(key.key) : ecSigningKey(seed, label, key.curve, key);
}

function serialOf(label: string): Uint8Array {
  const serial = createHash("SHA-256").update(label).digest().subarray(0, 8);
  return Uint8Array.of(0x40 | ((serial[0] ?? 0) >> 2), ...serial.subarray(1));
}

function authorityName(id: AuthorityId): TestName {
  return {
    country: testCountry.twoLetters,
    organization: "Utopia Test Authority",
    commonName: `CSCA Utopia ${id}`,
  };
}

/** The authorities of both realms, each made when it is first needed. */
function createIssuers(seed: string): (id: AuthorityId, realm: Realm) => Issuer {
  const issuers = new Map<string, Issuer>();
  return (id, realm) => {
    const known = issuers.get(`${realm} ${id}`);
    if (known !== undefined) return known;
    const { key, scheme } = authorityKeys[id];
    // RSA keys do not follow the seed, so an impostor always uses a curve.
    const specification: KeySpecification =
      realm === "impostor" && key.kind === "rsa"
        ? { kind: "ec", curve: "secp384r1", explicitParameters: true }
        : key;
    const issuer: Issuer = {
      name: authorityName(id),
      key: makeKey(seed, `${realm} authority ${id}`, specification),
      scheme: specification === key ? scheme : { kind: "ecdsa", hash: "SHA-384" },
    };
    issuers.set(`${realm} ${id}`, issuer);
    return issuer;
  };
}

/**
 * A fictional state for tests. Seed and year determine every byte.
 * Its keys are public: only the sandbox may trust it.
 */
export function createTestCountry(seed: string, now: Date): TestCountry {
  const year = now.getUTCFullYear();
  const authorityValidity: Validity = { notBefore: dayOf(year - 8, 1, 1), notAfter: dayOf(year + 20, 1, 1) };
  const signerValidity: Validity = { notBefore: dayOf(year - 3, 1, 1), notAfter: dayOf(year + 12, 1, 1) };
  const keyUsagePeriod: Validity = { notBefore: dayOf(year - 3, 1, 1), notAfter: dayOf(year + 1, 1, 1) };

  const issuerOf = createIssuers(seed);
  const selfSigned = (id: AuthorityId, realm: Realm): Uint8Array => {
    const issuer = issuerOf(id, realm);
    return issueCertificate({
      issuer,
      subject: issuer.name,
      subjectKey: issuer.key,
      serial: serialOf(`${realm} authority ${id}`),
      validity: authorityValidity,
      use: "authority",
    });
  };

  const ids = (Object.keys(authorityKeys) as AuthorityId[]).filter((id) => id !== "unlisted");
  const authorityCertificates = new Map(ids.map((id) => [id, selfSigned(id, "utopia")]));
  const signerSerial = (profile: SignerProfile, { revoked = false, realm = "utopia" }: SignerVariant) =>
    serialOf(`${realm} signer ${profile.id}${revoked ? " revoked" : ""}`);

  const documentSigner = (profile: SignerProfile, variant: SignerVariant = {}): MessageSigner => {
    const { revoked = false, realm = "utopia" } = variant;
    const label = `${realm} signer ${profile.id}${revoked ? " revoked" : ""}`;
    const key = makeKey(seed, label, profile.key);
    const certificate = issueCertificate({
      issuer: issuerOf(profile.authority, realm),
      subject: {
        country: testCountry.twoLetters,
        organization: "Utopia Test Authority",
        commonName: `Document Signer ${profile.id}${revoked ? " revoked" : ""}`,
      },
      subjectKey: key,
      serial: signerSerial(profile, variant),
      validity: signerValidity,
      use: "document_signer",
      privateKeyUsagePeriod: keyUsagePeriod,
    });
    return { certificate, key, scheme: profile.scheme };
  };

  const linkCertificate = issueCertificate({
    issuer: issuerOf("brainpool", "utopia"),
    subject: authorityName("nist"),
    subjectKey: issuerOf("nist", "utopia").key,
    serial: serialOf("link brainpool nist"),
    validity: authorityValidity,
    use: "authority",
  });

  const revocationLists = ids.map((id) =>
    issueRevocationList({
      issuer: issuerOf(id, "utopia"),
      thisUpdate: dayOf(year, 1, 1),
      nextUpdate: dayOf(year + 1, 3, 1),
      number: year,
      revoked: revokedProfileIds.map((profileId) => ({
        serial: serialOf(`utopia signer ${profileId} revoked`),
        at: dayOf(year - 1, 6, 1),
      })),
    }),
  );

  const masterListSigner = (): MessageSigner => {
    const key = ecSigningKey(seed, "master list signer", "brainpoolP256r1", { explicitParameters: true });
    const certificate = issueCertificate({
      issuer: issuerOf("brainpool", "utopia"),
      subject: {
        country: testCountry.twoLetters,
        organization: "Utopia Test Authority",
        commonName: "Master List Signer",
      },
      subjectKey: key,
      serial: serialOf("master list signer"),
      validity: signerValidity,
      use: "master_list_signer",
    });
    return { certificate, key, scheme: { kind: "ecdsa", hash: "SHA-256" } };
  };

  const masterList = (): Uint8Array =>
    signMasterList([...authorityCertificates.values(), linkCertificate], masterListSigner(), {
      signedAt: dayOf(year - 1, 2, 1),
      identifySignerBy: "subject_key_id",
    });

  return {
    seed,
    year,
    authorityCertificates,
    unlistedAuthority: selfSigned("unlisted", "utopia"),
    linkCertificate,
    revocationLists,
    documentSigner,
    masterListSigner,
    masterList,
    signedAt: dayOf(year - 2, 1, 15),
  };
}

/** Signers with these profiles exist a second time, revoked. */
const revokedProfileIds: readonly string[] = ["brainpoolP256r1-sha256-explicit", "rsa-2048-sha256"];

/** Trusted by the sandbox only. It is never part of an operator's store. */
export function testCountryTrust(country: TestCountry): readonly TrustRecord[] {
  const certificates = [
    ...country.authorityCertificates.values(),
    country.linkCertificate,
    country.unlistedAuthority,
  ];
  const sha256 = createHash("SHA-256");
  for (const certificate of certificates) sha256.update(certificate);
  return [
    {
      source: {
        type: "der",
        label: "built-in test country",
        sha256: sha256.digest("hex"),
        importedAt: dayOf(country.year, 1, 1).toISOString(),
        signedBy: null,
      },
      certificates,
      revocationLists: country.revocationLists,
    },
  ];
}
