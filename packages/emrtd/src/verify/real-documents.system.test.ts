import assert from "node:assert/strict";
import { test } from "node:test";
import { checker, flipBit, offsetIn } from "../../test/support/test-country.ts";
import { readVector, skipWithoutVectors } from "../../test/support/vectors.ts";
import { readTlv } from "../ber/read.ts";
import { equal } from "../bytes.ts";
import { chipAuthenticationOffersIn } from "../chip-authentication/chip-authentication-offer.ts";
import { importTrust } from "../trust/import-trust.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { readCertificate } from "../x509/certificate.ts";
import { readChipKeys, readSecurityObjectFile } from "./document-content.ts";
import { defaultPolicy } from "./policy.ts";
import { checkOf, failedCheckOf, type WarningCode } from "./report.ts";
import { verifyDocument, verifySecurityObject } from "./verify-document.ts";

const skip = skipWithoutVectors;
const today = new Date("2026-11-01T00:00:00Z");

let store: TrustStore | null = null;

function realTrust(): TrustStore {
  if (store !== null) return store;
  const roots = ["DE_ROOT_CA_CSCA07.cer", "NL_ROOT_CA.cer"].map((name) =>
    readCertificate(readVector(`master-lists/${name}`)),
  );
  const records = ["DE_ML_2026-05-28.ml", "NL_ML_2026-07-22.ml"].flatMap(
    (label) =>
      importTrust(readVector(`master-lists/${label}`), {
        label,
        checker,
        roots,
        pinnedSha256: [],
        now: today,
      }).records,
  );
  store = new TrustStore(records, checker);
  return store;
}

function verify(sod: Uint8Array) {
  return verifySecurityObject({ sod, trust: realTrust(), policy: defaultPolicy, now: today, checker });
}

type RealDocument = {
  readonly name: string;
  readonly algorithm: string;
  readonly key: string;
  readonly warnings: readonly WarningCode[];
};

const documents: readonly RealDocument[] = [
  { name: "AT", algorithm: "ECDSA with SHA-256", key: "brainpoolP256r1", warnings: [] },
  { name: "DE", algorithm: "ECDSA with SHA-384", key: "brainpoolP384r1", warnings: [] },
  { name: "FI", algorithm: "ECDSA with SHA-512", key: "brainpoolP512r1", warnings: [] },
  { name: "FR", algorithm: "RSA PKCS#1 v1.5 with SHA-256", key: "RSA-2048", warnings: [] },
  { name: "MY", algorithm: "RSA-PSS with SHA-256", key: "RSA-2048", warnings: ["signer_id_mismatch"] },
  {
    name: "NZ",
    algorithm: "RSA PKCS#1 v1.5 with SHA-256",
    key: "RSA-2048",
    warnings: ["signature_algorithm_without_hash"],
  },
  { name: "UK", algorithm: "ECDSA with SHA-256", key: "secp256r1", warnings: [] },
  {
    name: "US",
    algorithm: "RSA PKCS#1 v1.5 with SHA-256",
    key: "RSA-2048",
    warnings: ["signature_algorithm_without_hash"],
  },
];

for (const { name, algorithm, key, warnings } of documents) {
  test(`independent vectors: the security object of ${name} verifies up to a CSCA of the lists`, {
    skip,
  }, () => {
    const report = verify(readVector(`sod/${name}.sod`));
    assert.equal(failedCheckOf(report), null, JSON.stringify(failedCheckOf(report)));
    assert.equal(checkOf(report, "revocation").outcome, "passed");
    assert.equal(checkOf(report, "sod_signature").evidence.algorithm, algorithm);
    assert.equal(checkOf(report, "signer_certificate").evidence.key, key);
    const codes = report.warnings.map(({ code }) => code);
    assert.deepEqual(
      codes.filter((code) => code !== "revocation_list_missing" && code !== "signer_expired"),
      warnings,
    );
  });

  test(`independent vectors: the security object of ${name} fails with any one bit flipped`, { skip }, () => {
    const sod = readVector(`sod/${name}.sod`);
    const { signedData } = readSecurityObjectFile(sod);
    const [signer] = signedData.signers;
    const [der] = signedData.certificates;
    assert.ok(signer?.attributes && der);
    const certificate = readCertificate(der);
    // The signed attributes are kept as a copy under another tag, so their place is found by their content.
    const attributeBytes = readTlv(signer.attributes.signed).value;
    const attributesAt = Buffer.from(sod).indexOf(attributeBytes);
    assert.ok(attributesAt > 0);
    const attributes = sod.subarray(attributesAt, attributesAt + attributeBytes.length);
    const regions = {
      signature: signer.signature,
      signedAttributes: attributes,
      hashes: signedData.content,
      certificate: certificate.tbs,
      certificateSignature: certificate.signature,
    };
    for (const [region, part] of Object.entries(regions)) {
      const start = offsetIn(sod, part) * 8;
      const bits = part.length * 8;
      // Twenty-three places in each region, at every position within a byte.
      const step = Math.max(Math.floor(bits / 23), 1) | 1;
      for (let bit = 0; bit < bits; bit += step) {
        const report = verify(flipBit(sod, start + bit));
        assert.notEqual(failedCheckOf(report), null, `${region}, bit ${bit}`);
      }
    }
  });
}

test("independent vectors: a state whose CSCA is not in the store is not verified", { skip }, () => {
  const german = readVector("master-lists/DE_ROOT_CA_CSCA07.cer");
  const options = { label: "root", checker, roots: [], pinnedSha256: [], now: today };
  const trust = new TrustStore(importTrust(german, options).records, checker);
  const policy = defaultPolicy;
  const french = verifySecurityObject({ sod: readVector("sod/FR.sod"), trust, policy, now: today, checker });
  assert.equal(failedCheckOf(french)?.reason, "no_authority_known");
  const older = verifySecurityObject({ sod: readVector("sod/DE.sod"), trust, policy, now: today, checker });
  assert.equal(failedCheckOf(older)?.reason, "authority_signature_invalid");
});

function testPassport() {
  const group = (number: 1 | 2 | 14 | 15) =>
    [number, readVector(`test-passport/Datagroup${number}.bin`)] as const;
  const dataGroups = new Map([group(1), group(2), group(14), group(15)]);
  return { sod: readVector("test-passport/EF_SOD.bin"), dataGroups };
}

test("independent vectors: DG15 of the test passport, which its security object does not name, is no proof", {
  skip,
}, () => {
  const files = testPassport();
  const { securityObject } = readSecurityObjectFile(files.sod);
  assert.deepEqual(
    [...securityObject.hashes.keys()].sort((a, b) => a - b),
    [1, 2, 3, 4, 14],
  );
  const keys = readChipKeys(files, securityObject);
  assert.ok(chipAuthenticationOffersIn(keys.securityInfos ?? []).offers.length > 0);
  assert.equal(keys.activeAuthenticationKey, null);
  for (const number of [1, 2, 14] as const) {
    const hash = checker.hash(securityObject.digest, files.dataGroups.get(number) ?? new Uint8Array());
    assert.ok(equal(hash, securityObject.hashes.get(number) ?? new Uint8Array()));
  }
});

test("independent vectors: the test passport is signed, by nobody whom the lists name", { skip }, () => {
  const { report } = verifyDocument({
    files: testPassport(),
    trust: realTrust(),
    policy: defaultPolicy,
    now: today,
    checker,
  });
  assert.equal(checkOf(report, "sod_signature").outcome, "passed");
  assert.equal(failedCheckOf(report)?.reason, "no_authority_known");
});
