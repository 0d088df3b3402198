import assert from "node:assert/strict";
import { test } from "node:test";
import { checker } from "../../../test/support/test-country.ts";
import { mrzInformation } from "../../mrz/mrz-key.ts";
import { keyFieldsOf, parseMrzLines } from "../../mrz/parse-mrz.ts";
import { TrustStore } from "../../trust/trust-store.ts";
import { failureCodeOf } from "../../verify/failure-code.ts";
import { defaultPolicy } from "../../verify/policy.ts";
import { failedCheckOf, type Report, withChipProof } from "../../verify/report.ts";
import { verifyDocument } from "../../verify/verify-document.ts";
import {
  deserialiseTestDocuments,
  documentFilesOf,
  serialiseTestDocuments,
  type TestDocument,
} from "../../virtual/test-document.ts";
import { testDocuments } from "./catalogue.ts";
import { createTestCountry, defaultTestSeed, testCountryTrust } from "./test-country.ts";

const today = new Date("2026-11-15T00:00:00Z");
const documents = testDocuments(today);

function trustAt(now: Date): TrustStore {
  return new TrustStore(testCountryTrust(createTestCountry(defaultTestSeed, now)), checker);
}

const trust = trustAt(today);

/** Like a session: requests the proof from the chip, which succeeds if it has the key. */
function judge(document: TestDocument, now = today, store = trust): Report {
  const files = documentFilesOf(document);
  const { report } = verifyDocument({ files, trust: store, policy: defaultPolicy, now, checker });
  const proof = report.nextProof;
  if (proof === null) return report;
  const { chip } = document;
  const hasKey =
    proof === "chip_authentication" ? chip.chipAuthentication.length > 0 : chip.activeAuthentication !== null;
  return withChipProof(report, { proof, passed: hasKey && !chip.clone });
}

for (const document of documents) {
  test(`${document.id} ends as the catalogue says`, () => {
    const expected = document.decidedBy === "face" ? null : document.expectedFailureCode;
    assert.equal(failureCodeOf(judge(document)), expected);
  });
}

test("there is a document for every way to fail, and for passing with and without a proof of the chip", () => {
  const codes = new Set(documents.map(({ expectedFailureCode }) => expectedFailureCode));
  assert.deepEqual([...codes].filter((code) => code !== null).sort(), [
    "document_active_authentication_failed",
    "document_authenticity_failed",
    "document_chip_authentication_failed",
    "document_data_invalid",
    "document_expired",
    "liveness_failed",
    "selfie_face_mismatch",
  ]);
  const levels = new Set(documents.map((document) => judge(document).level));
  assert.ok(levels.has("chip_genuine") && levels.has("chip_clonable") && levels.has(null));
});

test("each alteration is caught by the check that is there for it", () => {
  const caughtBy = (id: string) => {
    const document = documents.find((candidate) => candidate.id === id);
    assert.ok(document, id);
    const failed = failedCheckOf(judge(document));
    return `${failed?.name} ${failed?.reason}`;
  };
  assert.equal(caughtBy("passport-altered-data"), "data_group_hashes dg1_hash_differs");
  assert.equal(caughtBy("passport-altered-portrait"), "data_group_hashes dg2_hash_differs");
  assert.equal(caughtBy("passport-wrong-signer"), "chain authority_signature_invalid");
  assert.equal(caughtBy("passport-revoked-signer"), "revocation signer_revoked");
  assert.equal(caughtBy("passport-invalid-data"), "structure mrz_check_digits_differ");
});

test("the catalogue is the same, byte for byte, through the year, and good on its last day", () => {
  assert.deepEqual(testDocuments(new Date("2026-01-01T00:00:00Z")), documents);
  const lastDay = new Date("2026-12-31T23:59:59Z");
  for (const document of documents) {
    assert.deepEqual(judge(document, lastDay, trustAt(lastDay)), judge(document));
  }
  assert.notDeepEqual(testDocuments(today, "another seed"), documents);
});

test("documents, numbers and ids are told apart", () => {
  const distinct = (values: readonly string[]) => assert.equal(new Set(values).size, documents.length);
  distinct(documents.map(({ id }) => id));
  distinct(documents.map(({ mrzLines }) => mrzLines.join("")));
  distinct(documents.map(({ chip }) => chip.can));
});

test("the printed zone opens the chip", () => {
  for (const { mrzLines, chip } of documents) {
    assert.equal(mrzInformation(keyFieldsOf(parseMrzLines(mrzLines, today))), mrzInformation(chip.mrzKey));
  }
});

test("a clone holds no private key", () => {
  for (const { chip } of documents.filter(({ chip: { clone } }) => clone)) {
    assert.deepEqual(chip.chipAuthentication, []);
    assert.equal(chip.activeAuthentication, null);
  }
});

test("a page gets a document whole", () => {
  assert.deepEqual(deserialiseTestDocuments(serialiseTestDocuments(documents)), documents);
});

test("the portraits are JPEG and, in one document, JPEG 2000", () => {
  const kinds = documents.map((document) => {
    const { content } = verifyDocument({
      files: documentFilesOf(document),
      trust,
      policy: defaultPolicy,
      now: today,
      checker,
    });
    return content?.portraits.faces[0].image.kind ?? "none";
  });
  assert.deepEqual(new Set(kinds), new Set(["jpeg", "jp2", "none"]));
});

test("the operator's store does not know the test country", () => {
  const [document] = documents;
  assert.ok(document);
  const operator = new TrustStore([], checker);
  assert.equal(failedCheckOf(judge(document, today, operator))?.name, "chain");
});
