import assert from "node:assert/strict";
import { test } from "node:test";
import { deserialize } from "node:v8";
import { createNodeSignatureChecker } from "@assay/emrtd/node/signature-checker";
import { testDocument, testDocuments } from "@assay/emrtd/node/test-country/catalogue";
import { createTestCountry, testCountryTrust } from "@assay/emrtd/node/test-country/test-country";
import { carryCommands } from "@assay/emrtd/reader/carry-commands";
import { openChip } from "@assay/emrtd/reader/open-chip";
import { createVirtualChip } from "@assay/emrtd/virtual/virtual-chip";
import { createTestAuthority } from "../../../test/support/test-authority.ts";
import type { ChipContent } from "../evidence/document-chip/proof.ts";
import { packTrust } from "../trust/trust-snapshot.ts";
import { documentCheckWithProof, runChipTask, type SentFiles, TrustStores } from "./chip-task.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const checker = createNodeSignatureChecker();
const around = { checker, stores: new TrustStores(checker) };

function documentOf(id: string, at = now) {
  return testDocument(id, at) ?? assert.fail(id);
}

function filesOf(id: string, at = now): SentFiles {
  const { SOD, DG1, DG2, DG14, DG15 } = documentOf(id, at).files;
  assert.ok(SOD && DG1 && DG2);
  return { SOD, DG1, DG2, ...(DG14 ? { DG14 } : {}), ...(DG15 ? { DG15 } : {}) };
}

function check(
  files: SentFiles,
  options: { trust?: ReturnType<typeof packTrust>; policy?: string; at?: Date } = {},
) {
  const { trust = "test_country", policy = "", at = now } = options;
  return runChipTask({ kind: "verify", trust, files, policy, nowMs: at.getTime() }, around);
}

test("of a document that passes there are its content, its level and the proof to ask for", async () => {
  const { report, content, ...rest } = await check(filesOf("passport-valid"));
  assert.deepEqual(rest, {
    failureCode: null,
    trustStoreEmpty: false,
    level: "data_authentic",
    warnings: [],
    proof: "chip_authentication",
  });
  assert.equal(report.level, "data_authentic");
  assert.ok(content);
  const { mrz } = deserialize(content) as ChipContent;
  assert.deepEqual(Object.keys(deserialize(content) as object), ["mrz"]);
  assert.equal(mrz.issuingState, "UTO");
});

test("of one that is refused there is the reason, and nothing that it says", async () => {
  for (const [id, failureCode] of [
    ["passport-expired", "document_expired"],
    ["passport-altered-data", "document_authenticity_failed"],
    ["passport-invalid-data", "document_data_invalid"],
  ] as const) {
    const checked = await check(filesOf(id));
    assert.deepEqual(
      [checked.failureCode, checked.content, checked.level, checked.proof],
      [failureCode, null, null, null],
    );
  }
});

test("the test country is that of its year, and counts in the sandbox only", async () => {
  // In both directions. Its lists of another year would be out of date.
  for (const at of [new Date("2029-03-01T12:00:00.000Z"), now, new Date("2023-03-01T12:00:00.000Z")]) {
    const { failureCode, warnings } = await check(filesOf("passport-valid", at), { at });
    assert.deepEqual([failureCode, warnings], [null, []], String(at.getUTCFullYear()));
  }
  const live = await check(filesOf("passport-valid"), { trust: packTrust(1, []) });
  assert.deepEqual([live.failureCode, live.trustStoreEmpty], ["document_authenticity_failed", true]);
});

test("what is trusted counts at its version, deviation lists included, and the policy as it is written now", async () => {
  const records = testCountryTrust(createTestCountry("live", now));
  const other = packTrust(1, records);
  const stranger = await check(filesOf("passport-valid"), { trust: other });
  assert.deepEqual([stranger.failureCode, stranger.trustStoreEmpty], ["document_authenticity_failed", false]);
  const files = filesOf("passport-no-revocation-list");
  assert.deepEqual((await check(files)).warnings, ["revocation_list_missing"]);
  const refused = await check(files, { policy: "revocation_list_missing=refuse" });
  assert.deepEqual([refused.failureCode, refused.content], ["document_authenticity_failed", null]);
  assert.deepEqual((await check(files)).warnings, ["revocation_list_missing"]);
});

test("a store is made once for what is the same, and again for what differs", () => {
  const stores = new TrustStores(checker);
  const authority = createTestAuthority("kept");
  const source = { type: "der", label: "", sha256: "", importedAt: "", signedBy: null } as const;
  const record = { source, certificates: [authority.certificate], revocationLists: [] };
  const deviationLists = [authority.deviationList(new Date("2026-01-05T00:00:00Z"))];
  const kept = stores.trustedAt(packTrust(3, [record]), now);
  assert.equal(stores.trustedAt(packTrust(3, [record]), now), kept);
  assert.deepEqual([kept.store.authorities.length, kept.deviations], [1, []]);
  const changed = stores.trustedAt(packTrust(3, [{ ...record, deviationLists }]), now);
  assert.notEqual(changed, kept);
  assert.deepEqual(
    changed.deviations.map(({ country }) => country),
    ["UT"],
  );
});

test("a proof is begun and judged from what is handed over alone, and its result becomes a part of the check", async () => {
  for (const [id, proof, clone] of [
    ["passport-valid", "chip_authentication", false],
    ["passport-active-authentication", "active_authentication", false],
    ["passport-valid", "chip_authentication", true],
  ] as const) {
    const { files, chip } = documentOf(id);
    const opened = await openChip(createVirtualChip({ files, ...chip, clone }), { mrz: chip.mrzKey });
    const sent = filesOf(id);
    let step = await runChipTask({ kind: "begin_proof", proof, files: sent }, around);
    while (step.kind === "ask") {
      const { state, ask } = step;
      const answers = await carryCommands(opened, ask);
      step = await runChipTask({ kind: "continue_proof", state, answers, files: sent }, around);
    }
    const before = await check(sent);
    const after = documentCheckWithProof(before, step.verdict);
    assert.equal(after.content, before.content);
    assert.deepEqual([after.level, after.proof], [clone ? null : "chip_genuine", null]);
    assert.equal(after.failureCode === null, !clone);
  }
});

test("test documents say how their face check is meant to end, in the year that they are of", async () => {
  const faceOf = (sod: Uint8Array, at = now) =>
    runChipTask({ kind: "find_test_document", sod, nowMs: at.getTime() }, around);
  const ends = async (at: Date) => {
    const found: Record<string, string> = {};
    for (const { id, files } of testDocuments(at)) {
      const { faceFailureCode } = await faceOf(files.SOD ?? assert.fail(), at);
      if (faceFailureCode !== null) found[id] = faceFailureCode;
    }
    return found;
  };
  // A process keeps those of the year that it was asked for last, so this begins with neither year.
  await faceOf(new Uint8Array(1), new Date("2025-03-01T12:00:00.000Z"));
  const expected = {
    "passport-liveness": "liveness_failed",
    "passport-another-face": "selfie_face_mismatch",
  };
  assert.deepEqual(await ends(now), expected);
  const later = new Date("2027-03-01T12:00:00.000Z");
  assert.deepEqual(await ends(later), expected);
  const { SOD } = documentOf("passport-liveness", later).files;
  assert.deepEqual(await faceOf(SOD ?? assert.fail(), now), { faceFailureCode: null });
});
