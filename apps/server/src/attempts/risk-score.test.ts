import assert from "node:assert/strict";
import { test } from "node:test";
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

test("the score stays within 0 and 1, and another doubt never lowers it", () => {
  const facts = fc.record({
    level: fc.constantFrom("chip_genuine" as const, "chip_clonable" as const),
    warnings: fc.array(
      fc.constantFrom("sha1" as const, "signer_expired" as const, "signer_key_usage" as const),
    ),
    failedTries: fc.integer({ min: 0, max: 9 }),
    face: fc.record({ simulated: fc.boolean(), risk: fc.double({ min: 0, max: 1, noNaN: true }) }),
  });
  fc.assert(
    fc.property(facts, (each) => {
      const score = riskScore(each);
      assert.ok(score >= 0 && score <= 1);
      assert.ok(riskScore({ ...each, level: "chip_clonable" }) >= score);
      assert.ok(riskScore({ ...each, warnings: [...each.warnings, "revocation_list_missing"] }) >= score);
      assert.ok(riskScore({ ...each, failedTries: each.failedTries + 1 }) >= score);
    }),
  );
});
