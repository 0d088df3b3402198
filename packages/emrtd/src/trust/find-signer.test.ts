import assert from "node:assert/strict";
import { test } from "node:test";
import { checker } from "../../test/support/test-country.ts";
import { type Issuer, issueCertificate } from "../node/test-country/issue-certificate.ts";
import { ecSigningKey } from "../node/test-country/signing-key.ts";
import { readCertificate } from "../x509/certificate.ts";
import { signerAmong } from "./find-signer.ts";

const scheme = { kind: "ecdsa", hash: "SHA-256" } as const;
const validity = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2040-01-01T00:00:00Z") };
const name = { country: "UT", organization: "Utopia Test Authority", commonName: "CSCA" };

function authority(label: string): Issuer {
  return {
    name,
    key: ecSigningKey("find signer", label, "secp256r1", { explicitParameters: false }),
    scheme,
  };
}

function certified(issuer: Issuer, subject: Issuer, use: "authority" | "document_signer") {
  const { key: subjectKey } = subject;
  const serial = Uint8Array.of(1);
  return {
    certificate: readCertificate(
      issueCertificate({ issuer, subject: subject.name, subjectKey, serial, validity, use }),
    ),
  };
}

test("eight keys of one name are tried for a signature, and a ninth never is", () => {
  const signing = authority("signing");
  const { certificate } = certified(signing, authority("signer"), "document_signer");
  const others = Array.from({ length: 8 }, (_, number) => authority(`other ${number}`));
  const among = (before: number) =>
    signerAmong(
      certificate,
      [...others.slice(0, before), signing].map((each) => certified(each, each, "authority")),
      checker,
    );
  assert.deepEqual(among(7)?.certificate, certified(signing, signing, "authority").certificate);
  assert.equal(among(8), null);
});
