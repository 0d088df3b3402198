import assert from "node:assert/strict";
import { test } from "node:test";
import { knownId } from "../../platform/kernel/ids.ts";
import type { SessionRow, VerificationAttemptRow } from "./session.store.ts";
import { viewAttempt, viewConsent, viewSession } from "./session.view.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute));
const url = "https://id.example";
const row: SessionRow = {
  ...{ id: knownId("vs_1"), organizationId: knownId("o"), status: "created", failureCode: null },
  ...{ unmetRequirement: null, steps: { chip: { tries: 1 }, face: { tries: 2 } }, methods: null },
  ...{ nfcTriesUsed: 0, livenessTriesUsed: 0, contractVersion: 1 },
  ...{ shareFields: {}, requirements: { revocation: "required" }, evidence: null, locale: null },
  ...{
    redirectUrl: null,
    templateId: null,
    returnCodeHash: null,
    embedOrigin: null,
    webhookEndpointId: null,
    clientReferenceId: null,
  },
  ...{ metadata: {}, sandbox: false, expiresAt: at(59), completedAt: null, openedAt: null },
  ...{ createdAt: at(0), updatedAt: at(1) },
};
const evidence: NonNullable<SessionRow["evidence"]> = {
  method: "chip_and_face",
  chip: "genuine",
  revocation: "checked",
  warnings: [],
  face: "matched",
  face_checks: [],
  device: "attested",
  verified_at: at(2).toISOString(),
};

test("an open session is read with its addresses, and an expired one ends and changes with its expiry", () => {
  const open = viewSession(row, at(58), url);
  assert.deepEqual(
    [open.status, open.verification_url, open.redirect_url, open.completed_at, open.updated_at],
    ["created", `${url}/verify/vs_1`, `${url}/verify/vs_1/complete`, null, at(1).toISOString()],
  );
  assert.deepEqual(open.requirements, {
    clone_detection: "preferred",
    revocation: "required",
    binding: "preferred",
  });
  const expired = viewSession(row, at(59), url);
  assert.deepEqual(
    [expired.status, expired.completed_at, expired.updated_at],
    ["expired", at(59).toISOString(), at(59).toISOString()],
  );
  const cancelled = { ...row, status: "cancelled", completedAt: at(3) } as const;
  assert.equal(viewSession(cancelled, at(59), url).completed_at, at(3).toISOString());
  assert.equal(
    viewSession({ ...row, redirectUrl: "https://shop.example/" }, at(5), url).redirect_url,
    "https://shop.example/",
  );
});

test("only a success shows its evidence, and one of an earlier version says that no phone vouched", () => {
  const succeeded = { ...row, status: "succeeded", completed_at: at(2) } as const;
  assert.deepEqual(viewSession({ ...succeeded, evidence }, at(5), url).evidence, evidence);
  const { device: _, ...earlier } = evidence;
  assert.deepEqual(
    viewSession({ ...succeeded, evidence: earlier as NonNullable<SessionRow["evidence"]> }, at(5), url)
      .evidence,
    {
      ...evidence,
      device: "unattested",
    },
  );
  assert.equal(viewSession(succeeded, at(5), url).evidence, null);
  assert.equal(viewSession({ ...row, status: "cancelled", evidence }, at(5), url).evidence, null);
});

test("an attempt fails with the expiry of its session, and then", () => {
  const attempt: VerificationAttemptRow = {
    ...{
      id: knownId("va_1"),
      sessionId: row.id,
      status: "in_progress",
      failureCode: null,
      riskScore: 0.3,
    },
    ...{ sessionExpiresAt: at(59), completedAt: null, createdAt: at(2), updatedAt: at(4) },
  };
  const { status, failure_code, completed_at, updated_at } = viewAttempt(attempt, at(59));
  assert.deepEqual(
    [status, failure_code, completed_at, updated_at],
    ["failed", "session_expired", at(59).toISOString(), at(59).toISOString()],
  );
  const running = viewAttempt(attempt, at(58));
  assert.deepEqual([running.completed_at, running.updated_at], [null, at(4).toISOString()]);
  const ended = viewAttempt({ ...attempt, status: "succeeded", completedAt: at(6) }, at(59));
  assert.deepEqual([ended.status, ended.completed_at], ["succeeded", at(6).toISOString()]);
});

test("a consent is there once it was given, with what was chosen and whether it was withdrawn", () => {
  assert.equal(viewConsent({ selectedFieldKeys: null, givenAt: null, withdrawnAt: null }), null);
  assert.deepEqual(viewConsent({ selectedFieldKeys: ["x"], givenAt: at(1), withdrawnAt: null }), {
    selected_field_keys: ["x"],
    given_at: at(1).toISOString(),
    withdrawn_at: null,
  });
  const withdrawn = viewConsent({ selectedFieldKeys: [], givenAt: at(1), withdrawnAt: at(2) });
  assert.equal(withdrawn?.withdrawn_at, at(2).toISOString());
});
