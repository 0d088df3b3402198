import assert from "node:assert/strict";
import test from "node:test";
import { sql } from "../../../src/platform/db/sql.ts";
import { hourMs, later } from "../../../src/platform/kernel/clock.ts";
import { knownId, newId } from "../../../src/platform/kernel/ids.ts";
import { recordTry, type TriedAttempt } from "../../../src/verification/attempts/record-try.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";
import { claimed, createSession, judge, passChip, succeed } from "../../support/sessions.ts";

const service = await startTestService({ role: "api" });
const { api, clock, core } = service;
const partner = await createPartner(api);

const read = async (id: string) => expectData(await partner.api.get(`/v1/sessions/${id}`));
const triesOf = async (id: string) => {
  const { status, nfc_tries_used, liveness_tries_used } = await read(id);
  return [status, nfc_tries_used, liveness_tries_used];
};
/** What the previous release reads. */
const columnsOf = (id: string) =>
  core.db.one<{ chip: number; face: number; passed: boolean }>(sql`
    select nfc_tries_used as chip, liveness_tries_used as face, chip_passed_at is not null as passed
    from sessions where id = ${id}`);

const triedAttempt = (id: string, attempt: string): TriedAttempt => ({
  sessionId: knownId(id),
  attemptId: knownId(attempt),
  organizationId: knownId(partner.organizationId),
  sandbox: true,
  selectedFieldKeys: ["family_name"],
});

test("what this release counts is read by the release before, at every step", async () => {
  const id = await createSession(partner.api);
  const attempt = await claimed(core, id);
  assert.deepEqual(await columnsOf(id), { chip: 0, face: 0, passed: false });
  await judge(core, id, attempt, "chip", 1, "document_expired");
  assert.deepEqual(await columnsOf(id), { chip: 1, face: 0, passed: false });
  await passChip(core, id, attempt, 2);
  assert.deepEqual(await columnsOf(id), { chip: 2, face: 0, passed: true });
  await judge(core, id, attempt, "face", 1, "liveness_failed");
  assert.deepEqual(await columnsOf(id), { chip: 2, face: 1, passed: true });
  await succeed(core, id, attempt);
  assert.deepEqual(await columnsOf(id), { chip: 2, face: 2, passed: true });
});

test("what the release before counts is read by this one, which goes on from there", async () => {
  const id = await createSession(partner.api);
  const attempt = await claimed(core, id);
  // Its statements: the tries, the first pass, and a change that writes the tries unchanged.
  await core.db.run(sql`update sessions set nfc_tries_used = 1, chip_passed_at = null where id = ${id}`);
  assert.deepEqual(await triesOf(id), ["in_progress", 1, 0]);
  await core.db.run(sql`
    update sessions set nfc_tries_used = 2, chip_passed_at = coalesce(chip_passed_at, ${clock.now()}::timestamptz)
    where id = ${id}`);
  await core.db.run(sql`update sessions set liveness_tries_used = 1 where id = ${id}`);
  await core.db.run(sql`
    update sessions set updated_at = ${clock.now()}, nfc_tries_used = coalesce(null, nfc_tries_used) where id = ${id}`);
  assert.deepEqual(await triesOf(id), ["in_progress", 2, 1]);
  assert.equal((await succeed(core, id, attempt)).kind, "session_ended");
  assert.deepEqual(await triesOf(id), ["succeeded", 2, 2]);
});

test("a session that ended before steps were stored shows its tries", async () => {
  const now = clock.now();
  const id = newId("vs", now);
  await core.db.run(sql`
    insert into sessions (id, organization_id, status, failure_code, contract_version, share_fields, metadata, sandbox, cancel_token_hash,
      expires_at, completed_at, created_at, updated_at, nfc_tries_used, liveness_tries_used, chip_passed_at)
    values (${id}, ${partner.organizationId}, 'failed', 'liveness_failed', 1, '{}', '{}', true, '', ${later(now, hourMs)}, ${now},
      ${now}, ${now}, 2, 3, ${now})`);
  assert.deepEqual(await triesOf(id), ["failed", 2, 3]);
});

test("a face that passes ends nothing while no chip has passed", async () => {
  const id = await createSession(partner.api);
  const attempt = await claimed(core, id);
  await core.db.run(sql`update sessions set nfc_tries_used = 1 where id = ${id}`);
  const judged = { step: "face", number: 1, riskScore: 0, verdict: { failureCode: null } } as const;
  const recorded = await recordTry(core, triedAttempt(id, attempt), judged);
  assert.equal(recorded.kind, "counted");
  assert.deepEqual(await triesOf(id), ["in_progress", 1, 1]);
});

test("a try counts once, and only for the attempt that is open", async () => {
  const id = await createSession(partner.api);
  const attempt = triedAttempt(id, await claimed(core, id));
  const verdict = { failureCode: "document_expired" } as const;
  const tryAgain = (number: number | "next", of = attempt, spend?: () => Promise<boolean>) =>
    recordTry(core, of, { step: "chip", number, riskScore: 0, verdict }, spend);
  const superseded = { kind: "superseded" };
  const over = { kind: "session_over" };
  assert.deepEqual(await tryAgain(1), { kind: "counted", step: "chip", verdict });
  assert.deepEqual(await tryAgain(1), superseded, "another process has counted it");
  assert.deepEqual(await tryAgain("next", attempt, async () => false), superseded, "its answer was used");
  const now = clock.now();
  for (const other of [{ attemptId: newId("va", now) }, { sessionId: newId("vs", now) }])
    assert.deepEqual(await tryAgain("next", { ...attempt, ...other }), over);
  assert.deepEqual(await triesOf(id), ["in_progress", 1, 0]);
  assert.equal((await tryAgain("next", attempt, async () => true)).kind, "counted");
  assert.deepEqual(await triesOf(id), ["in_progress", 2, 0]);
  assert.deepEqual(await tryAgain("next"), { kind: "session_ended", verdict });
  assert.deepEqual(await tryAgain("next"), over);
  assert.deepEqual(await triesOf(id), ["failed", 3, 0]);
});

test("no session succeeds without the proof that it rests on", async () => {
  const id = await createSession(partner.api);
  const attempt = await claimed(core, id);
  await passChip(core, id, attempt, 1);
  const judged = { step: "face", number: 1, riskScore: 0, verdict: { failureCode: null } } as const;
  await assert.rejects(recordTry(core, triedAttempt(id, attempt), judged), /without a proof/);
  assert.deepEqual(await triesOf(id), ["in_progress", 1, 0]);
});

test("a session says by which methods it may be verified, and is of version 1 without a wallet", async () => {
  const plain = expectData(await partner.api.post("/v1/sessions"), 201);
  assert.deepEqual([plain.methods, plain.contract_version], [["document_chip"], 1]);
  const named = expectData(await partner.api.post("/v1/sessions", { methods: ["document_chip"] }), 201);
  assert.deepEqual([named.methods, named.contract_version], [["document_chip"], 1]);
  assert.deepEqual((await read(named.id)).methods, ["document_chip"]);
});

test("a list of methods without meaning is refused", async () => {
  const create = (methods: unknown) => partner.api.post("/v1/sessions", { methods });
  for (const methods of [[], ["document_chip", "document_chip"], ["iris"], "document_chip"])
    expectError(await create(methods), 400, "BAD_REQUEST", /methods/);
});

test("the person's page gets the steps of the session, with their tries", async () => {
  const id = await createSession(partner.api);
  const steps = async () => expectData(await api.get(`/v1/verify/session/${id}/status`)).steps;
  const untried = { tries_used: 0, tries_left: 3, passed: false };
  assert.deepEqual(await steps(), [
    { name: "chip", ...untried },
    { name: "face", ...untried },
  ]);
  const attempt = await claimed(core, id);
  await passChip(core, id, attempt, 1);
  for (const number of [1, 2]) await judge(core, id, attempt, "face", number, "liveness_failed");
  assert.deepEqual(await steps(), [
    { name: "chip", tries_used: 1, tries_left: 2, passed: true },
    { name: "face", tries_used: 2, tries_left: 1, passed: false },
  ]);
});

test("the time line says when the page was opened and each step was passed, to members of the organization only", async () => {
  const id = await createSession(partner.api);
  const path = `/v1/auth/orgs/sessions/${id}/timeline`;
  const timeline = async () => expectData(await partner.owner.api.get(path));
  const face = { name: "face", tries: 0, passed_at: null };
  assert.deepEqual(await timeline(), {
    opened_at: null,
    steps: [{ name: "chip", tries: 0, passed_at: null }, face],
  });
  const openedAt = clock.now();
  await core.db.run(sql`update sessions set opened_at = ${openedAt} where id = ${id}`);
  const attempt = await claimed(core, id);
  clock.advance(20_000);
  const passedAt = clock.now().toISOString();
  await passChip(core, id, attempt, 1);
  clock.advance(20_000);
  await judge(core, id, attempt, "face", 1, "liveness_failed");
  assert.deepEqual(await timeline(), {
    opened_at: openedAt.toISOString(),
    steps: [
      { name: "chip", tries: 1, passed_at: passedAt },
      { ...face, tries: 1 },
    ],
  });
  const stranger = await createPartner(api);
  expectError(await stranger.owner.api.get(path), 404, "SESSION_NOT_FOUND");
  expectError(await partner.api.get(path), 403, "API_KEY_NOT_ALLOWED");
  expectError(await partner.owner.api.get("/v1/auth/orgs/sessions/vs_x/timeline"), 400, "INVALID_SESSION_ID");
});

test("a session that no listed method can satisfy is refused, and the answer names what is in the way", async () => {
  const create = (body: object) => partner.api.post("/v1/sessions", { methods: ["wallet_mdl"], ...body });
  const asked = { required: true, reason: "We need it." };
  expectError(
    await create({ share_fields: { mrz_optional_data: asked } }),
    400,
    "INVALID_REQUEST",
    /wallet_mdl lacks `share_fields\.mrz_optional_data`/,
  );
  expectError(
    await create({
      methods: ["wallet_age"],
      share_fields: { age_over_18: asked },
      requirements: { clone_detection: "required" },
    }),
    400,
    "INVALID_REQUEST",
    /wallet_age lacks `requirements\.clone_detection`/,
  );
  expectError(
    await create({ methods: ["wallet_age"] }),
    400,
    "INVALID_REQUEST",
    /wallet_age lacks `share_fields\.age_over_18`/,
  );
  expectData(await create({ share_fields: { mrz_optional_data: { ...asked, required: false } } }), 201);
  const both = { methods: ["wallet_mdl", "document_chip"], share_fields: { mrz_optional_data: asked } };
  expectData(await create(both), 201);
});
