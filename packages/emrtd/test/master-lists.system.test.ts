import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { readWhole } from "../src/ber/read.ts";
import { readSignedData } from "../src/cms/signed-data.ts";
import { importTrust } from "../src/trust/import-trust.ts";
import { TrustStore } from "../src/trust/trust-store.ts";
import { type Certificate, readCertificate } from "../src/x509/certificate.ts";
import { checker, flipBit } from "./support/test-country.ts";
import { readVector, skipWithoutVectors } from "./support/vectors.ts";

function importList(bytes: Uint8Array, { roots, now }: { roots: Certificate[]; now: Date }) {
  return importTrust(bytes, { label: "test", checker, roots, pinnedSha256: [], now });
}

test("independent vectors: a master list is split into its certificates", {
  skip: skipWithoutVectors,
}, () => {
  for (const [file, count] of [
    ["DE_ML_2026-05-28.ml", 588],
    ["NL_ML_2026-07-22.ml", 411],
  ] as const) {
    const signedData = readWhole(readVector(`master-lists/${file}`))
      .at(1, "content")
      .at(0, "signed data");
    const content = signedData.at(2, "encapsulated content").at(1, "content").at(0, "octets").octetString();
    assert.equal(readWhole(content).at(1, "certificates").children().length, count);
  }
});

test("independent vectors: every certificate of the lists says what node:crypto says of it", {
  skip: skipWithoutVectors,
}, () => {
  for (const list of ["DE_ML_2026-05-28.ml", "NL_ML_2026-07-22.ml"]) {
    const { content } = readSignedData(readVector(`master-lists/${list}`), { maxBytes: 2_000_000 });
    for (const item of readWhole(content).at(1, "certificates").iterate()) {
      const ours = readCertificate(item.bytes);
      const theirs = new X509Certificate(item.bytes);
      assert.equal(ours.notBefore.getTime(), Date.parse(theirs.validFrom));
      assert.equal(ours.notAfter.getTime(), Date.parse(theirs.validTo));
      const key = ours.publicKey;
      const details = theirs.publicKey.asymmetricKeyDetails;
      if (key.kind === "rsa") assert.equal(key.bits, details?.modulusLength);
      else if (details?.namedCurve !== undefined)
        assert.equal(key.curve.replace("secp256r1", "prime256v1"), details.namedCurve);
    }
  }
});

test("independent vectors: the German and the Dutch list are imported, each with its own root only", {
  skip: skipWithoutVectors,
}, () => {
  const german = readVector("master-lists/DE_ML_2026-05-28.ml");
  const dutch = readVector("master-lists/NL_ML_2026-07-22.ml");
  const germanRoot = readCertificate(readVector("master-lists/DE_ROOT_CA_CSCA07.cer"));
  const dutchRoot = readCertificate(readVector("master-lists/NL_ROOT_CA.cer"));
  const now = new Date("2026-11-01T00:00:00Z");
  const germanImport = importList(german, { roots: [germanRoot], now });
  const dutchImport = importList(dutch, { roots: [dutchRoot], now });
  assert.equal(germanImport.records[0]?.certificates.length, 588);
  assert.equal(dutchImport.records[0]?.certificates.length, 411);
  assert.deepEqual([...germanImport.rejected, ...dutchImport.rejected], []);
  assert.match(importList(german, { roots: [dutchRoot], now }).rejected[0]?.reason ?? "", /No trusted root/);
  const store = new TrustStore([...germanImport.records, ...dutchImport.records], checker);
  assert.equal(store.authorities.length, 627);
  for (const { certificate } of store.authorities) {
    assert.doesNotThrow(() => [certificate.publicKey, certificate.signatureScheme]);
  }
  const both = store.authorities.filter(({ sources }) => sources.length === 2);
  assert.equal(both.length, 588 + 411 - 627);
});

test("independent vectors: the German list with one certificate changed is refused", {
  skip: skipWithoutVectors,
}, () => {
  const german = readVector("master-lists/DE_ML_2026-05-28.ml");
  const roots = [readCertificate(readVector("master-lists/DE_ROOT_CA_CSCA07.cer"))];
  for (const offset of [100, 400_000, 899_000, 902_200, german.length - 1]) {
    const { records } = importList(flipBit(german, offset * 8), {
      roots,
      now: new Date("2026-11-01T00:00:00Z"),
    });
    assert.deepEqual(records, []);
  }
});
