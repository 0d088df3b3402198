import assert from "node:assert/strict";
import { test } from "node:test";
import { serialize } from "node:v8";
import { parseMrzLines } from "@assay/emrtd/mrz/parse-mrz";
import { type Check, checkNames, makeReport } from "@assay/emrtd/verify/report";
import { specimenLines } from "../../../../test/support/specimen-mrz.ts";
import { chipVerdict } from "./chip-verdict.ts";
import type { ChipContent } from "./proof.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
/** Every check passed, but the chip offers no proof that it is no copy. */
const report = makeReport(
  checkNames.map((name): Check => {
    const isProof = /^(chip|active)_authentication/.test(name);
    return { name, outcome: isProof ? "not_offered" : "passed", reason: null, evidence: {} };
  }),
  [],
);
/** Born in 1925 or in 2025. */
const mrz = parseMrzLines(specimenLines({ dateOfBirth: "250301" }), now);
const checked = { failureCode: null, content: serialize({ mrz } satisfies ChipContent), report };
const nothing = { selectedFieldKeys: ["family_name"], requirements: {} };
const open = { ...nothing, selectedFieldKeys: ["date_of_birth"] };
const demanding = { ...nothing, requirements: { clone_detection: "required" } as const };

test("a document without a failed check passes where it says what was asked for and meets what was required", () => {
  assert.deepEqual(chipVerdict(checked, nothing, now), { failureCode: null });
});

test("a failed check comes first, then a field that the document leaves open, then a requirement", () => {
  const failureCode = "document_expired";
  assert.deepEqual(
    chipVerdict({ ...checked, failureCode }, { ...open, requirements: demanding.requirements }, now),
    { failureCode },
  );
  assert.deepEqual(chipVerdict(checked, { ...open, requirements: demanding.requirements }, now), {
    failureCode: "document_data_invalid",
    reasons: ["century_of_birth_unknown"],
  });
  const { failureCode: unmet, ...why } = chipVerdict(checked, demanding, now);
  assert.notEqual(unmet, null);
  assert.deepEqual(why, { unmetRequirement: "clone_detection" });
});
