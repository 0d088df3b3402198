import assert from "node:assert/strict";
import { test } from "node:test";
import { judgedTryOf, type TryGrounds } from "./judged-try.ts";
import type { ProvenChip } from "./proof.ts";

const proven: ProvenChip = {
  kind: "document_chip",
  content: new Uint8Array(4),
  level: "chip_genuine",
  revocation: "checked",
  warnings: [],
};
const signs = ["flat_thing"];
const grounds: TryGrounds = {
  chip: proven,
  proven,
  face: { simulated: false, risk: 0, device: "attested", checks: ["movements"], signs },
  failedTries: 0,
};

test("only a face that has passed carries the proof; the audit log gets its signs, and why a face was refused", () => {
  const passed = { failureCode: null };
  assert.deepEqual(judgedTryOf({ step: "face", number: 2, verdict: passed }, grounds), {
    ...{ step: "face", number: 2, verdict: passed, riskScore: 0 },
    proof: { ...proven, device: "attested", faceChecks: ["movements"] },
    audit: { event: "session.face_suspected", details: { signs } },
  });
  const unsuspected = { ...grounds, face: null };
  assert.deepEqual(judgedTryOf({ step: "face", number: 2, verdict: passed }, unsuspected), {
    ...{ step: "face", number: 2, verdict: passed, riskScore: 0 },
    proof: { ...proven, device: "unattested", faceChecks: [] },
  });
  assert.deepEqual(judgedTryOf({ step: "chip", number: 1, verdict: passed }, grounds), {
    ...{ step: "chip", number: 1, verdict: passed, riskScore: 0 },
  });
  const failed = { failureCode: "liveness_failed", reasons: ["still"] } as const;
  assert.deepEqual(judgedTryOf({ step: "face", number: 1, verdict: failed }, grounds), {
    ...{ step: "face", number: 1, verdict: failed, riskScore: 0 },
    audit: {
      event: "session.face_rejected",
      details: { failure_code: "liveness_failed", reasons: ["still"] },
    },
  });
  const unread = { failureCode: "document_expired" } as const;
  assert.deepEqual(judgedTryOf({ step: "chip", number: 1, verdict: unread }, grounds), {
    ...{ step: "chip", number: 1, verdict: unread, riskScore: 0 },
  });
});

test("a face does not pass without a chip that has", () => {
  const passed = { step: "face", number: 1, verdict: { failureCode: null } } as const;
  assert.throws(() => judgedTryOf(passed, { ...grounds, proven: null }), /without a chip/);
});

test("the risk is that of the chip, of the face and of the tries before; without a checked chip it is 1", () => {
  const verdict = { failureCode: "liveness_failed" } as const;
  const riskOf = (more: Partial<TryGrounds>) =>
    judgedTryOf({ step: "face", number: 1, verdict }, { ...grounds, ...more }).riskScore;
  assert.equal(riskOf({ chip: { level: "chip_clonable", warnings: [] } }), 0.3);
  assert.equal(riskOf({ failedTries: 1 }), 0.05);
  assert.equal(
    riskOf({ face: { simulated: true, risk: 0, device: "unattested", checks: [], signs: [] } }),
    0.2,
  );
  assert.equal(riskOf({ face: null }), 0);
  assert.equal(riskOf({ chip: null }), 1);
});
