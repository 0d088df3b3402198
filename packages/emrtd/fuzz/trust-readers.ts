import { fromBase64, toBase64 } from "../src/base64.ts";
import { readWhole } from "../src/ber/read.ts";
import {
  contextTag,
  contextValue,
  generalizedTime,
  integer,
  nullValue,
  octetString,
  oid,
  printableString,
  sequence,
  setOf,
} from "../src/ber/write.ts";
import { fromLatin1, latin1, toHex } from "../src/bytes.ts";
import { readSignedData } from "../src/cms/signed-data.ts";
import { readPublicKey } from "../src/crypto/public-key.ts";
import { readSignatureScheme } from "../src/crypto/signature-scheme.ts";
import { createNodeSignatureChecker } from "../src/node/signature-checker.ts";
import { testDocuments } from "../src/node/test-country/catalogue.ts";
import {
  encodeName,
  issueCertificate,
  issueRevocationList,
} from "../src/node/test-country/issue-certificate.ts";
import { signMessage } from "../src/node/test-country/sign-message.ts";
import { signerProfile, signerProfiles } from "../src/node/test-country/signer-profiles.ts";
import { ecSigningKey, signatureAlgorithm } from "../src/node/test-country/signing-key.ts";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "../src/node/test-country/test-country.ts";
import { deviationListSigningKey, deviationListType, readDeviations } from "../src/trust/deviation-list.ts";
import { importTrust } from "../src/trust/import-trust.ts";
import { deserialiseTrustRecord, serialiseTrustRecord } from "../src/trust/trust-record.ts";
import { TrustStore } from "../src/trust/trust-store.ts";
import { parsePolicy } from "../src/verify/parse-policy.ts";
import { defaultPolicy } from "../src/verify/policy.ts";
import { verifyDocument } from "../src/verify/verify-document.ts";
import { documentFilesOf } from "../src/virtual/test-document.ts";
import { readCertificate } from "../src/x509/certificate.ts";
import { readCrl, readCrlIssuer } from "../src/x509/crl.ts";
import { revocationListAddresses } from "../src/x509/distribution-points.ts";
import { readName } from "../src/x509/name.ts";
import type { ChipReader } from "./mutate.ts";

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

const issuer = {
  name: { country: "UT", organization: "Utopia Test Authority", commonName: "CSCA" },
  key: ecSigningKey("fuzz", "extensions", "secp256r1", { explicitParameters: false }),
  scheme: { kind: "ecdsa", hash: "SHA-256" },
} as const;

/** Every extension that lists and entries may have and still count. */
const extendedList = issueRevocationList({
  issuer,
  thisUpdate: today,
  nextUpdate: today,
  number: 7,
  revoked: [
    {
      serial: Uint8Array.of(5),
      at: today,
      extensions: [
        { type: "2.5.29.21", critical: false, value: Uint8Array.of(0x0a, 1, 1) },
        { type: "2.5.29.24", critical: true, value: generalizedTime(today) },
      ],
    },
  ],
  extensions: [{ type: "2.5.29.46", critical: false, value: sequence(nullValue()) }],
});

const extendedSigner = issueCertificate({
  issuer,
  subject: issuer.name,
  subjectKey: issuer.key,
  serial: Uint8Array.of(1),
  validity: { notBefore: today, notAfter: today },
  use: "document_signer",
  privateKeyUsagePeriod: { notBefore: today, notAfter: today },
  withoutSubjectKeyId: true,
  extensions: [
    { type: "2.5.29.14", critical: false, value: new Uint8Array(20).fill(0x85) },
    {
      type: "2.23.136.1.1.6.2",
      critical: false,
      value: sequence(integer(0), setOf(printableString("P"), printableString("ID"))),
    },
  ],
});

const pointingSigner = issueCertificate({
  issuer,
  subject: issuer.name,
  subjectKey: issuer.key,
  serial: Uint8Array.of(1),
  validity: { notBefore: today, notAfter: today },
  use: "document_signer",
  extensions: [
    {
      type: "2.5.29.31",
      critical: false,
      value: sequence(
        sequence(
          contextTag(0, contextTag(0, contextValue(6, latin1("http://lists.utopia.example/csca.crl")))),
        ),
        sequence(
          contextTag(0, contextTag(0, contextValue(6, latin1("ldap://lists.utopia.example/c=UT")))),
          contextTag(2, contextTag(4, encodeName(issuer.name))),
        ),
      ),
    },
  ],
});

const deviations = sequence(
  integer(0),
  sequence(oid("2.16.840.1.101.3.4.2.1")),
  setOf(
    sequence(
      sequence(
        contextValue(0, latin1("C<")),
        contextValue(2, new Uint8Array(20)),
        contextTag(4, generalizedTime(today), generalizedTime(today)),
        contextTag(5, printableString("CA00000AA"), printableString("CA00001AA")),
      ),
      setOf(sequence(printableString("text"), oid("2.23.136.1.1.7.2.2"), contextTag(0, integer(12)))),
    ),
    sequence(
      sequence(
        contextTag(1, encodeName(issuer.name), integer(9)),
        contextTag(3, octetString(new Uint8Array(32))),
      ),
      setOf(sequence(oid("2.23.136.1.1.7.1.4"))),
    ),
  ),
);

const deviationSigner = issueCertificate({
  issuer,
  subject: { ...issuer.name, commonName: "deviation list signer" },
  subjectKey: issuer.key,
  serial: Uint8Array.of(2),
  validity: { notBefore: today, notAfter: today },
  use: "document_signer",
  extensions: [{ type: "2.5.29.37", critical: true, value: sequence(oid(deviationListSigningKey)) }],
});

const deviationList = signMessage(
  deviationListType,
  deviations,
  { certificate: deviationSigner, key: issuer.key, scheme: issuer.scheme },
  { signedAt: today, identifySignerBy: "issuer_and_serial" },
);

const passport = documentFilesOf(testDocuments(today)[0] ?? { files: {} });

/** Readers of certificates, signatures and trust, and a whole verification of a foreign security object. */
export const trustReaders: readonly ChipReader[] = [
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
    name: "revocation list extensions",
    read: (bytes) => [readCrlIssuer(bytes), readCrl(bytes)],
    seeds: () => [extendedList],
  },
  { name: "certificate extensions", read: readCertificate, seeds: () => [extendedSigner] },
  { name: "distribution points", read: revocationListAddresses, seeds: () => [pointingSigner] },
  { name: "deviation list", read: readDeviations, seeds: () => [deviations] },
  {
    name: "policy",
    isText: true,
    read: (bytes) => parsePolicy(fromLatin1(bytes)),
    seeds: () =>
      ["strict, sha1=warn, revocation_list_stale=accept", '{"base": "strict", "sha1": "warn"}'].map(latin1),
  },
  {
    name: "signed message",
    read: (bytes) => readSignedData(bytes, { maxBytes: 1_000_000 }),
    seeds: () => [country.masterList()],
  },
  {
    name: "trust import",
    read: importFile,
    seeds: () => [
      country.masterList(),
      country.linkCertificate,
      ...country.revocationLists.slice(0, 1),
      deviationList,
    ],
  },
  {
    name: "trust import of text",
    isText: true,
    read: importFile,
    seeds: () => signers.flatMap((der) => [latin1(pem(der)), latin1(ldif(der))]),
  },
  {
    name: "trust record",
    isText: true,
    read: (bytes) => deserialiseTrustRecord(fromLatin1(bytes)),
    seeds: () => testCountryTrust(country).map((record) => latin1(serialiseTrustRecord(record))),
  },
  {
    name: "base64",
    isText: true,
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
