import assert from "node:assert/strict";
import { test } from "node:test";
import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import type { WarningCode } from "@assay/emrtd/verify/report";
import fc from "fast-check";
import { type RiskFacts, riskScore } from "./risk-score.ts";

const clean: RiskFacts = {
  level: "chip_genuine",
  warnings: [],
  failedTries: 0,
  face: { simulated: false, risk: 0 },
};

test("nothing to doubt is 0, a failed document is 1, a chip that may be a copy lies between", () => {
  assert.equal(riskScore(clean), 0);
  assert.equal(riskScore({ ...clean, level: null }), 1);
  assert.equal(riskScore({ ...clean, level: "chip_clonable" }), 0.3);
  assert.equal(riskScore({ ...clean, warnings: ["revocation_list_stale"] }), 0.05);
  assert.equal(riskScore({ ...clean, face: { simulated: true, risk: 0 } }), 0.2);
  // 1 - 0.7 × 0.9 × 0.95
  assert.equal(
    riskScore({ ...clean, level: "chip_clonable", warnings: ["revocation_list_missing"], failedTries: 1 }),
    0.402,
  );
});

const warnings = Object.keys(evidenceWarnings) as WarningCode[];
const scoreWith = (...codes: WarningCode[]) => riskScore({ ...clean, warnings: codes });

test("the less is known of revocation, the higher the score; a list that cannot be used is as good as none", () => {
  const [checked, stale, missing] = [
    scoreWith(),
    scoreWith("revocation_list_stale"),
    scoreWith("revocation_list_missing"),
  ];
  assert.ok(checked < stale && stale < missing);
  assert.equal(scoreWith("revocation_unchecked"), missing);
});

test("a signer beyond its types of documents weighs more than a published deviation, and that more than an unreadable extension", () => {
  assert.ok(scoreWith("document_type_not_listed") > scoreWith("document_deviates"));
  assert.ok(scoreWith("document_deviates") > scoreWith("extension_unreadable"));
  assert.ok(scoreWith("extension_unreadable") > 0);
});

test("the score stays within 0 and 1, and another doubt never lowers it", () => {
  const facts = fc.record({
    level: fc.constantFrom("chip_genuine" as const, "chip_clonable" as const),
    warnings: fc.array(fc.constantFrom(...warnings)),
    failedTries: fc.integer({ min: 0, max: 9 }),
    face: fc.record({ simulated: fc.boolean(), risk: fc.double({ min: 0, max: 1, noNaN: true }) }),
  });
  fc.assert(
    fc.property(facts, fc.constantFrom(...warnings), (each, another) => {
      const score = riskScore(each);
      assert.ok(score >= 0 && score <= 1);
      assert.ok(riskScore({ ...each, level: "chip_clonable" }) >= score);
      assert.ok(riskScore({ ...each, warnings: [...each.warnings, another] }) >= score);
      assert.ok(riskScore({ ...each, failedTries: each.failedTries + 1 }) >= score);
    }),
  );
});
