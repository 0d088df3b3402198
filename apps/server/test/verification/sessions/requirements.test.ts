import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runDevice } from "@assay/device/run-device";
import { virtualPassport } from "@assay/device/virtual-passport";
import {
  createTestCountry,
  defaultTestSeed,
  testCountryTrust,
} from "@assay/emrtd/node/test-country/test-country";
import { sql } from "../../../src/platform/db/sql.ts";
import { dayMs } from "../../../src/platform/kernel/clock.ts";
import type { FaceJudge } from "../../../src/verification/face/face-judge.ts";
import { FaceSitting } from "../../../src/verification/face/face-sitting.ts";
import { describeImport } from "../../../src/verification/trust/describe-import.ts";
import { changeTrust, insertImport } from "../../../src/verification/trust/trust.store.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createLivePartner } from "../../support/live.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { fail, succeed } from "../../support/sessions.ts";
import { startVerification, takeSession } from "../../support/verify.ts";
import { claimedSession, TestDevice, testDocument, trustTestCountry } from "../../support/verify-device.ts";

const receiver = await startReceiver();
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const webhooks = { ca: receiver.ca };
const service = await startTestService({ env, webhooks });
const { api, clock, core } = service;
const partner = await createPartner(api);
await createReceivingEndpoint(partner.api, receiver.url);

const cloneDetection = { requirements: { clone_detection: "required" } };
const revocation = { requirements: { revocation: "required" } };
const sessionOf = async (id: string) => expectData(await partner.api.get(`/v1/sessions/${id}`));

/** The data of the one event that the partner gets of this session. */
async function eventOf(id: string) {
  await service.runJob("deliver-webhooks");
  const delivered = await Promise.all(receiver.received.map(async ({ body }) => (await decrypt(body)).event));
  const [event, ...more] = delivered.filter(({ metadata }) => metadata.verification_session_id === id);
  assert.deepEqual(more, []);
  return event;
}

/** A whole sandbox session with this document. */
async function simulate(document: string, body: Record<string, unknown> = {}) {
  const session = expectData(await partner.api.post("/v1/sessions", body), 201);
  const chip = virtualPassport(testDocument(document, clock.now()));
  const outcome = await runDevice({ verificationUrl: session.verification_url, chip });
  return { outcome, session: await sessionOf(session.id), event: await eventOf(session.id) };
}

// --- asking ------------------------------------------------------------------------------------------------

test("what is demanded, the language and the reasons of each language are read back as they were asked", async () => {
  const reasons = { de: "Wir verkaufen Wein.", es: "  Vendemos vino. " };
  const body = {
    requirements: { clone_detection: "required", revocation: "preferred" },
    locale: "de",
    share_fields: { age_over_18: { required: true, reason: "We sell wine.", reasons } },
  };
  const created = expectData(await partner.api.post("/v1/sessions", body), 201);
  const field = {
    required: true,
    reason: "We sell wine.",
    reasons: { de: "Wir verkaufen Wein.", es: "Vendemos vino." },
    source: "rc",
  };
  const details = expectData(await api.get(`/v1/verify/session/${created.id}/details`));
  for (const shown of [created, await sessionOf(created.id), details]) {
    assert.deepEqual(shown.requirements, {
      clone_detection: "required",
      revocation: "preferred",
      binding: "preferred",
    });
    assert.equal(shown.locale, "de");
    assert.deepEqual(shown.share_fields.age_over_18, field);
    assert.equal(shown.unmet_requirement, null);
  }
  assert.equal(created.evidence, null);
});

test("without a word everything is preferred, and null is the same as no word", async () => {
  const bodies = [
    {},
    { requirements: {} },
    { requirements: null, locale: null },
    { requirements: { clone_detection: "preferred", revocation: null } },
  ];
  for (const body of bodies) {
    const { requirements, locale } = expectData(await partner.api.post("/v1/sessions", body), 201);
    assert.deepEqual(requirements, {
      clone_detection: "preferred",
      revocation: "preferred",
      binding: "preferred",
    });
    assert.equal(locale, null);
  }
});

test("a wrong demand, language or translated reason is refused and named", async () => {
  const asked = (reasons: unknown) => ({
    share_fields: { sex_marker: { required: false, reason: "To address you.", reasons } },
  });
  const refused: [Record<string, unknown>, RegExp][] = [
    [{ requirements: "all" }, /`requirements` must be an object/],
    [{ requirements: { clone_detection: "always" } }, /`requirements.clone_detection` must be/],
    [{ requirements: { revocation: true } }, /`requirements.revocation` must be/],
    [{ requirements: { liveness: "required" } }, /`requirements.liveness` is not a field/],
    [{ locale: "tlh" }, /`locale` must be/],
    [{ locale: "de-AT" }, /`locale` must be/],
    [asked("Anrede"), /`share_fields.sex_marker.reasons` must be an object/],
    [asked({ no: "For å tiltale deg." }), /`share_fields.sex_marker.reasons.no` is not a field/],
    [asked({ de: 5 }), /`share_fields.sex_marker.reasons.de` must be/],
    [asked({ de: " " }), /`share_fields.sex_marker.reasons.de` must not be empty/],
    [asked({ fr: "x".repeat(201) }), /`share_fields.sex_marker.reasons.fr` must have at most 200 characters/],
    [asked({ es: "a\nb" }), /`share_fields.sex_marker.reasons.es` must not hold control characters/],
  ];
  for (const [body, message] of refused)
    expectError(await partner.api.post("/v1/sessions", body), 400, "BAD_REQUEST", message);
});

test("a demand belongs to what an Idempotency-Key stands for", async () => {
  const headers = { "idempotency-key": "with-demands" };
  const first = expectData(await partner.api.post("/v1/sessions", cloneDetection, headers), 201);
  const again = expectData(await partner.api.post("/v1/sessions", cloneDetection, headers), 201);
  assert.deepEqual(again, first);
  for (const other of [{}, { ...cloneDetection, locale: "fr" }, revocation])
    expectError(await partner.api.post("/v1/sessions", other, headers), 409, "IDEMPOTENCY_KEY_REUSED");
});

// --- clone detection ---------------------------------------------------------------------------------------

test("a document that cannot prove its chip fails where that is required; each reading is a try, and the reason is reported", async (t) => {
  const { session, sessionId, socketToken } = await claimedSession(partner.api, cloneDetection);
  const device = await TestDevice.connect(service.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const document = testDocument("passport-no-chip-proof", clock.now());
  const reason = {
    failure_code: "document_chip_authentication_failed",
    unmet_requirement: "clone_detection",
  };
  for (const left of [2, 1]) {
    const result = await device.passChip(document, 10 * (3 - left));
    assert.ok(result.type === "step_result");
    assert.deepEqual(
      { ...result },
      {
        type: "step_result",
        step: "chip",
        passed: false,
        ...reason,
        tries_left: { chip: left, face: 3 },
        phase: "chip",
      },
    );
    assert.equal((await sessionOf(session.id)).status, "in_progress");
    const followed = expectData(await api.get(`/v1/verify/session/${session.id}/status`));
    assert.deepEqual(followed.attempt.refused, reason, "the person's own page learns why");
  }
  assert.deepEqual(
    { ...(await device.passChip(document, 40)) },
    { type: "outcome", status: "failed", ...reason },
  );
  const ended = await sessionOf(session.id);
  assert.equal(ended.status, "failed");
  assert.equal(ended.nfc_tries_used, 3);
  assert.equal(ended.evidence, null);
  const status = expectData(await api.get(`/v1/verify/session/${session.id}/status`));
  const { data } = await eventOf(session.id);
  for (const shown of [ended, status, data]) {
    assert.equal(shown.failure_code, reason.failure_code);
    assert.equal(shown.unmet_requirement, reason.unmet_requirement);
  }
});

test("the same document succeeds where clone detection is preferred, and the evidence says that a copy is not excluded", async () => {
  const { session, event } = await simulate("passport-no-chip-proof");
  assert.equal(session.status, "succeeded");
  assert.deepEqual(session.evidence, {
    method: "chip_and_face",
    chip: "copy_not_excluded",
    revocation: "checked",
    warnings: [],
    face: "matched",
    face_checks: [],
    device: "unattested",
    verified_at: session.completed_at,
  });
  assert.deepEqual(event.data.evidence, session.evidence);
});

for (const document of ["passport-valid", "passport-active-authentication"]) {
  test(`${document} meets every demand of the sandbox, and its chip is genuine`, async () => {
    const both = { requirements: { clone_detection: "required", revocation: "required" } };
    const { session, event } = await simulate(document, both);
    assert.equal(session.status, "succeeded");
    assert.equal(session.evidence.chip, "genuine");
    assert.equal(session.evidence.revocation, "checked");
    assert.deepEqual(event.data.evidence, session.evidence);
  });
}

test("a cloned chip fails as before, and no demand is said to be unmet", async () => {
  const { session, outcome } = await simulate("passport-cloned-chip-authentication", cloneDetection);
  assert.equal(session.failure_code, "document_chip_authentication_failed");
  assert.equal(session.unmet_requirement, null);
  assert.ok(outcome.kind === "failed");
  assert.equal(outcome.unmetRequirement, null);
});

// --- revocation --------------------------------------------------------------------------------------------

test("in the sandbox a test document without a list shows both: it passes and says so, and fails where revocation is required", async () => {
  const passed = await simulate("passport-no-revocation-list", cloneDetection);
  assert.equal(passed.session.status, "succeeded");
  assert.equal(passed.session.evidence.revocation, "no_list");
  assert.deepEqual(passed.session.evidence.warnings, ["revocation_list_missing"]);
  const { session, event } = await simulate("passport-no-revocation-list", revocation);
  assert.equal(session.status, "failed");
  assert.equal(event.data.failure_code, "document_authenticity_failed");
  assert.equal(event.data.unmet_requirement, "revocation");
});

const facePasses: FaceJudge = {
  begin: () => ({ movements: ["look_up"], colours: ["red"], colourMs: 500, deadlineMs: 60_000 }),
  judge: async () => ({
    kind: "passed",
    distance: 0,
    risk: 0,
    riskInputs: { signs: [] } as never,
    checks: ["movements", "portrait"],
  }),
  close: async () => {},
  follow: () => new FaceSitting(() => null),
};

/** Trusts the authorities of the test country, and none of its revocation lists. */
async function trustWithoutLists({ core, clock }: TestService) {
  const [record] = testCountryTrust(createTestCountry(defaultTestSeed, clock.now()));
  assert.ok(record !== undefined);
  const bare = { ...record, revocationLists: [] };
  await changeTrust(core.db, clock.now(), "command", async (tx) =>
    (await insertImport(tx, bare, 0, "command")) ? [describeImport(bare)] : [],
  );
}

/** A live session as far as the chip, and on to the face where the chip passed. */
async function verifyLive(t: TestContext, live: TestService, body: Record<string, unknown>) {
  const asker = await createLivePartner(live.core, live.api);
  const { session, sessionId, socketToken } = await claimedSession(asker.api, body);
  const device = await TestDevice.connect(live.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const judged = await device.passChip(testDocument("passport-valid", live.clock.now()));
  assert.ok(judged.type === "step_result");
  if (!judged.passed) return { judged, evidence: null };
  device.send({ type: "face_start" });
  await device.expect("face_challenge");
  device.send({ type: "face_done" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  const ended = expectData(await asker.api.get(`/v1/sessions/${session.id}`));
  return { judged, evidence: ended.evidence };
}

const unmet = { failure_code: "document_authenticity_failed", unmet_requirement: "revocation" };

test("with no revocation list at hand a document passes, says so, and fails where revocation is required", async (t) => {
  const live = await startTestService({ verify: { faceJudge: facePasses } });
  await trustWithoutLists(live);
  const { evidence } = await verifyLive(t, live, cloneDetection);
  assert.equal(evidence.chip, "genuine");
  assert.equal(evidence.revocation, "no_list");
  assert.deepEqual(evidence.warnings, ["revocation_list_missing"]);
  const { judged } = await verifyLive(t, live, revocation);
  assert.deepEqual({ failure_code: judged.failure_code, unmet_requirement: judged.unmet_requirement }, unmet);
});

test("a list past its next update is reported as stale, and is not enough where revocation is required", async (t) => {
  const live = await startTestService({ verify: { faceJudge: facePasses } });
  await trustTestCountry(live);
  const fresh = await verifyLive(t, live, revocation);
  assert.equal(fresh.evidence.revocation, "checked");
  // The lists of the test country hold until March of the next year.
  live.clock.advance(460 * dayMs);
  const document = await verifyLive(t, live, {});
  assert.equal(document.evidence.revocation, "stale");
  assert.deepEqual(document.evidence.warnings, ["revocation_list_stale"]);
  const { judged } = await verifyLive(t, live, revocation);
  assert.deepEqual({ failure_code: judged.failure_code, unmet_requirement: judged.unmet_requirement }, unmet);
});

// --- keeping -----------------------------------------------------------------------------------------------

test("the evidence is there although the chip passed in one process and the face in another", async (t) => {
  // A second process: the passed chip stays in the memory of the first.
  const second = await startTestService({ databaseUrl: service.databaseUrl, clock, machines: 1 });
  const { session, sessionId, socketToken } = await claimedSession(partner.api, cloneDetection);
  const genuine = testDocument("passport-valid", clock.now());
  const first = await TestDevice.connect(service.url, sessionId, socketToken);
  await first.expect("welcome");
  const passed = await first.passChip(genuine);
  assert.ok(passed.type === "step_result" && passed.passed);
  first.connection.close();
  const device = await TestDevice.connect(second.url, sessionId, socketToken);
  t.after(() => device.connection.close());
  assert.equal((await device.expect("welcome")).resumed, false);
  // The requirement also applies in this process: another document fails the second reading.
  const other = await device.passChip(testDocument("passport-no-chip-proof", clock.now()));
  assert.ok(other.type === "step_result");
  assert.equal(other.unmet_requirement, "clone_detection");
  const again = await device.passChip(genuine, 20);
  assert.ok(again.type === "step_result" && again.passed);
  device.send({ type: "face_start" });
  assert.equal((await device.expect("outcome")).status, "succeeded");
  const ended = await sessionOf(session.id);
  assert.equal(ended.evidence.chip, "genuine");
  assert.equal(ended.evidence.verified_at, ended.completed_at);
});

test("only a success has evidence, and withdrawing before anything was delivered takes it away", async () => {
  const other = await createPartner(api);
  const shown = async (id: string) => expectData(await other.api.get(`/v1/sessions/${id}`));
  const failed = await startVerification(other.api);
  await fail(core, failed.id, (await takeSession(api, failed.id)).attemptId);
  assert.equal((await shown(failed.id)).evidence, null);
  const passed = await startVerification(other.api);
  const { attemptId, cancelToken } = await takeSession(api, passed.id);
  assert.equal((await shown(passed.id)).evidence, null);
  await succeed(core, passed.id, attemptId);
  assert.equal((await shown(passed.id)).evidence.chip, "genuine");
  expectData(await api.post(`${passed.path}/cancel`, { cancel_token: cancelToken }));
  const withdrawn = await shown(passed.id);
  assert.equal(withdrawn.status, "cancelled");
  assert.equal(withdrawn.evidence, null);
  const { kept } = await core.db.one<{ kept: boolean }>(
    sql`select evidence is not null as kept from sessions where id = ${passed.id}`,
  );
  assert.equal(kept, false);
});

test("evidence that a process of an earlier version left behind when consent was withdrawn is not shown", async () => {
  const { id } = await startVerification(partner.api);
  await succeed(core, id, (await takeSession(api, id)).attemptId);
  await core.db.run(sql`update sessions set status = 'cancelled' where id = ${id}`);
  assert.equal((await sessionOf(id)).evidence, null);
});

test("a process of an earlier version cannot let a session succeed that demands something", async () => {
  const withoutEvidence = (id: string) =>
    core.db.run(
      sql`update sessions set status = 'succeeded', completed_at = ${clock.now()} where id = ${id}`,
    );
  const demanding = await startVerification(partner.api, cloneDetection);
  await assert.rejects(withoutEvidence(demanding.id), /sessions_success_with_evidence/);
  assert.equal((await sessionOf(demanding.id)).status, "created");
  const plain = await startVerification(partner.api);
  await withoutEvidence(plain.id);
  assert.equal((await sessionOf(plain.id)).evidence, null);
});
