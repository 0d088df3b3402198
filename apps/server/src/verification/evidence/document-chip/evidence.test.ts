import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvidenceWarning } from "@assay/contract/evidence-warnings";
import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import { Evidence } from "@assay/contract/sessions";
import type { WarningCode } from "@assay/emrtd/verify/report";
import { Compile } from "typebox/compile";
import { evidenceOf } from "./evidence.ts";
import type { DocumentChipProof } from "./proof.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const proof: DocumentChipProof = {
  kind: "document_chip",
  content: new Uint8Array(),
  level: "chip_genuine",
  revocation: "checked",
  warnings: [],
  device: "attested",
  faceChecks: ["movements", "portrait"],
};

// Neither line compiles when one of the lists has a code that the other lacks.
type Same = [Exclude<EvidenceWarning, WarningCode>, Exclude<WarningCode, EvidenceWarning>];
const sameCodes: Same extends [never, never] ? true : false = true;

test("every warning of a report is in the published list, which has no other", () => {
  assert.ok(sameCodes);
  const all = Object.keys(evidenceWarnings) as WarningCode[];
  const evidence = evidenceOf({ ...proof, warnings: all }, now);
  assert.deepEqual(evidence.warnings, [...all].sort());
  assert.ok(Compile(Evidence).Check(evidence));
});

test("evidence uses the terms of the contract and has each warning once", () => {
  assert.deepEqual(evidenceOf(proof, now), {
    method: "chip_and_face",
    chip: "genuine",
    revocation: "checked",
    warnings: [],
    face: "matched",
    face_checks: ["movements", "portrait"],
    device: "attested",
    verified_at: "2026-03-01T12:00:00.000Z",
  });
  const doubtful = evidenceOf(
    {
      ...proof,
      level: "chip_clonable",
      revocation: "no_list",
      warnings: ["sha1", "revocation_list_missing", "sha1"],
      device: "unattested",
    },
    now,
  );
  assert.equal(doubtful.device, "unattested");
  assert.equal(doubtful.chip, "copy_not_excluded");
  assert.equal(doubtful.revocation, "no_list");
  assert.deepEqual(doubtful.warnings, ["revocation_list_missing", "sha1"]);
});
