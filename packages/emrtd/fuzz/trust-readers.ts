import { fromBase64, toBase64 } from "../src/base64.ts";
import { readWhole } from "../src/ber/read.ts";
import { fromLatin1, latin1, toHex } from "../src/bytes.ts";
import { readSignedData } from "../src/cms/signed-data.ts";
import { readPublicKey } from "../src/crypto/public-key.ts";
import { readSignatureScheme } from "../src/crypto/signature-scheme.ts";
import { createNodeSignatureChecker } from "../src/node/signature-checker.ts";
import { testDocuments } from "../src/node/test-country/catalogue.ts";
import { signerProfile, signerProfiles } from "../src/node/test-country/signer-profiles.ts";
import { signatureAlgorithm } from "../src/node/test-country/signing-key.ts";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "../src/node/test-country/test-country.ts";
import { importTrust } from "../src/trust/import-trust.ts";
import { deserialiseTrustRecord, serialiseTrustRecord } from "../src/trust/trust-record.ts";
import { TrustStore } from "../src/trust/trust-store.ts";
import { defaultPolicy } from "../src/verify/policy.ts";
import { verifyDocument } from "../src/verify/verify-document.ts";
import { documentFilesOf } from "../src/virtual/test-document.ts";
import { readCertificate } from "../src/x509/certificate.ts";
import { readCrl } from "../src/x509/crl.ts";
import { readName } from "../src/x509/name.ts";
import type { FuzzReader } from "./fuzz-reader.ts";

const today = new Date("2026-11-15T12:00:00Z");
const country = createTestCountry(defaultTestSeed, today);
const checker = createNodeSignatureChecker();
const trust = new TrustStore(testCountryTrust(country), checker);
const roots = [...country.authorityCertificates.values()].map(readCertificate);

const signers = ["rsa-pss-2048-sha256", "secp256r1-sha256-named", "brainpoolP256r1-sha256-explicit"].map(
  (id) => country.documentSigner(signerProfile(id)).certificate,
);

function pem(bytes: Uint8Array): string {
  return `-----BEGIN CERTIFICATE-----\n${toBase64(bytes)}\n-----END CERTIFICATE-----\n`;
}

function ldif(bytes: Uint8Array): string {
  return `dn: c=UT\ncACertificate;binary:: ${toBase64(bytes)}\n`;
}

function importFile(bytes: Uint8Array): unknown {
  return importTrust(bytes, { label: "fuzz", checker, roots, pinnedSha256: [], now: today });
}

const passport = documentFilesOf(testDocuments(today)[0] ?? { files: {} });

/** Readers of certificates, signatures and trust, and the whole verification on a security object from a stranger. */
export const trustReaders: readonly FuzzReader[] = [
  {
    name: "certificate",
    read: (bytes) => {
      const certificate = readCertificate(bytes);
      return [certificate.publicKey, certificate.signatureScheme];
    },
    seeds: () => [...signers, ...country.authorityCertificates.values()],
  },
  {
    name: "distinguished name",
    read: (bytes) => readName(readWhole(bytes)),
    seeds: () => signers.map((der) => readWhole(der).at(0, "content").at(3, "issuer").bytes),
  },
  {
    name: "public key",
    read: readPublicKey,
    seeds: () => signers.map((der) => readCertificate(der).subjectPublicKeyInfo),
  },
  {
    name: "signature algorithm",
    read: (bytes) => readSignatureScheme(readWhole(bytes), "SHA-256"),
    seeds: () => signerProfiles.map(({ scheme }) => signatureAlgorithm(scheme)),
  },
  { name: "revocation list", read: readCrl, seeds: () => country.revocationLists },
  {
    name: "signed message",
    read: (bytes) => readSignedData(bytes, { maxBytes: 1_000_000 }),
    seeds: () => [country.masterList()],
  },
  {
    name: "trust import",
    read: importFile,
    seeds: () => [country.masterList(), country.linkCertificate, ...country.revocationLists.slice(0, 1)],
  },
  {
    name: "trust import of text",
    text: true,
    read: importFile,
    seeds: () => signers.flatMap((der) => [latin1(pem(der)), latin1(ldif(der))]),
  },
  {
    name: "trust record",
    text: true,
    read: (bytes) => deserialiseTrustRecord(fromLatin1(bytes)),
    seeds: () => testCountryTrust(country).map((record) => latin1(serialiseTrustRecord(record))),
  },
  {
    name: "base64",
    text: true,
    read: (bytes) => fromBase64(fromLatin1(bytes)),
    seeds: () => [latin1(toBase64(new Uint8Array(40))), latin1(toHex(new Uint8Array(20)))],
  },
  {
    name: "document verification",
    read: (sod) => {
      const { report } = verifyDocument({
        files: { ...passport, sod },
        trust,
        policy: defaultPolicy,
        now: today,
        checker,
      });
      return report.level;
    },
    seeds: () => [passport.sod],
  },
];
