import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import test from "node:test";
import { Sql, sql } from "../../../src/platform/db/sql.ts";
import { minuteMs } from "../../../src/platform/kernel/clock.ts";
import { findSocketOwner } from "../../../src/verification/attempts/attempt-socket.store.ts";
import { type Answer, createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { eventsOf, succeed } from "../../support/sessions.ts";
import {
  agree,
  claimWith,
  handOff,
  requiredKeys,
  startVerification,
  takeSession,
} from "../../support/verify.ts";

const authority = createAuthority();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const { api, clock, core, databaseUrl, logLines } = service;
/** Another process on the same database. */
const second = await startTestService({ databaseUrl, clock, role: "api" });
const partner = await createPartner(api);

const statusOf = async (id: string) => expectData(await api.get(`/v1/verify/session/${id}/status`));

test("a handoff needs consent, keeps its token out of every query, and can be made again and again", async () => {
  const { id, path } = await startVerification(partner.api);
  expectError(await api.post(`${path}/handoff`), 409, "CONSENT_REQUIRED");
  await agree(api, id);
  const handoff = expectData(await api.post(`${path}/handoff`), 201);
  assert.equal(handoff.handoff_url, `${service.url}/verify/${id}#handoff=${handoff.handoff_token}`);
  assert.equal(Date.parse(handoff.expires_at) - clock.now().getTime(), 5 * minuteMs);
  const tokens = [handoff.handoff_token, await handOff(api, id), await handOff(second.api, id)];
  assert.equal(new Set(tokens).size, 3);
  // Earlier tokens stay valid.
  const claim = expectData(await claimWith(second.api, id, tokens[0], "phone"), 201);
  assert.match(claim.attempt_id, /^va_/);
  assert.equal((await statusOf(id)).attempt.id, claim.attempt_id);
  for (const token of tokens.slice(1))
    expectError(await claimWith(api, id, token, "phone"), 409, "HANDOFF_TOKEN_CONSUMED");
});

test("a token is good for five minutes and not a moment longer, and never outlives the session", async () => {
  const { id } = await startVerification(partner.api);
  await agree(api, id);
  const token = await handOff(api, id);
  clock.advance(5 * minuteMs - 1);
  const later = await handOff(api, id);
  clock.advance(1);
  expectError(await claimWith(api, id, token, "phone"), 401, "HANDOFF_TOKEN_EXPIRED");
  expectData(await claimWith(api, id, later, "phone"), 201);
  const { id: late, path: latePath } = await startVerification(partner.api);
  await agree(api, late);
  clock.advance(58 * minuteMs);
  const { expires_at: expiresAt } = expectData(await api.post(`${latePath}/handoff`), 201);
  assert.equal(expiresAt, (await statusOf(late)).expires_at);
});

test("guessed tokens and those of another session open nothing", async () => {
  const mine = await startVerification(partner.api);
  const theirs = await startVerification(partner.api);
  await agree(api, mine.id);
  await agree(api, theirs.id);
  const token = await handOff(api, theirs.id);
  for (const guess of [token, "guess", token.toUpperCase(), `${token} `, "' or 1=1 --"])
    expectError(await claimWith(api, mine.id, guess, "phone"), 401, "HANDOFF_TOKEN_INVALID");
  for (const guess of ["", "\u0000"])
    expectError(await claimWith(api, mine.id, guess, "phone"), 400, "BAD_REQUEST", /handoff_token/);
  expectError(await claimWith(api, mine.id, token, "two words"), 400, "BAD_REQUEST", /device_id/);
  assert.equal((await statusOf(mine.id)).status, "created");
  const { attempt_id: attemptId, socket_token: socketToken } = expectData(
    await claimWith(api, theirs.id, token, "phone"),
    201,
  );
  assert.equal(await findSocketOwner(core.db, mine.id, socketToken), null);
  assert.equal(await findSocketOwner(core.db, theirs.id, token), null);
  const owner = await findSocketOwner(core.db, theirs.id, socketToken);
  assert.equal(owner?.attemptId, attemptId);
  assert.deepEqual(owner?.selectedFieldKeys, requiredKeys);
  assert.equal(owner?.session.organizationId, partner.organizationId);
  assert.equal(owner?.session.id, theirs.id);
});

test("a QR code that is photographed is worth nothing once it is claimed", async () => {
  const { id } = await startVerification(partner.api);
  const { handoffToken, attemptId, device } = await takeSession(api, id);
  expectError(await claimWith(api, id, handoffToken, "thief"), 409, "HANDOFF_TOKEN_CONSUMED");
  // The thief knows the session by now and asks for another token.
  const own = await handOff(second.api, id);
  expectError(await claimWith(second.api, id, own, "thief"), 403, "HANDOFF_DEVICE_MISMATCH");
  clock.advance(2 * minuteMs);
  expectError(await claimWith(second.api, id, own, "thief"), 403, "HANDOFF_DEVICE_MISMATCH");
  const status = await statusOf(id);
  assert.equal(status.attempt.id, attemptId);
  assert.equal(status.tries.nfc_tries_left, 3);
  // The owner goes on, with the old token as with the new one.
  assert.equal(expectData(await claimWith(api, id, handoffToken, device), 201).attempt_id, attemptId);
  assert.equal(expectData(await claimWith(api, id, own, device), 201).attempt_id, attemptId);
});

test("the same device resumes its attempt with a fresh socket token, also after the five minutes", async () => {
  const { id } = await startVerification(partner.api);
  const first = await takeSession(api, id, "phone");
  clock.advance(20 * minuteMs);
  const again = expectData(await claimWith(second.api, id, first.handoffToken, "phone"), 201);
  assert.deepEqual([again.attempt_id, again.resumed], [first.attemptId, true]);
  assert.notEqual(again.socket_token, first.socketToken);
  assert.equal(await findSocketOwner(core.db, id, first.socketToken), null, "the one before is dead");
  assert.equal((await findSocketOwner(core.db, id, again.socket_token))?.attemptId, first.attemptId);
});

test("the person who agreed can change devices; the old device cannot come back by itself", async () => {
  const { id } = await startVerification(partner.api);
  const old = await takeSession(api, id, "old-phone");
  const token = await handOff(api, id, old.cancelToken);
  const taken = expectData(await claimWith(api, id, token, "new-phone"), 201);
  assert.notEqual(taken.attempt_id, old.attemptId);
  assert.equal(taken.resumed, false);
  assert.equal(await findSocketOwner(core.db, id, old.socketToken), null);
  expectError(await claimWith(api, id, old.handoffToken, "old-phone"), 403, "HANDOFF_DEVICE_MISMATCH");
  // Not with the token that once took over, either.
  const back = await handOff(api, id, old.cancelToken);
  expectData(await claimWith(api, id, back, "third-phone"), 201);
  expectError(await claimWith(api, id, token, "new-phone"), 403, "HANDOFF_DEVICE_MISMATCH");
});

test("of two devices that claim at once on two processes, one wins", async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await startVerification(partner.api);
    await agree(api, id);
    const [one = "", two = ""] = [await handOff(api, id), await handOff(api, id)];
    const answers: Answer[] = await Promise.all([
      claimWith(api, id, one, "a"),
      claimWith(second.api, id, one, "b"),
      claimWith(api, id, two, "c"),
      claimWith(second.api, id, two, "d"),
    ]);
    const won = answers.filter((answer) => answer.status === 201);
    assert.equal(won.length, 1);
    for (const lost of answers.filter((answer) => answer.status !== 201))
      expectError(lost, 409, "HANDOFF_TOKEN_CONSUMED");
    const attempts = await core.db.rows(sql`select id from attempts where session_id = ${id}`);
    assert.equal(attempts.length, 1);
  }
});

test("each cancel token works once, whichever process it is shown to", async () => {
  const { id, path, cancelToken } = await startVerification(partner.api);
  const other = await startVerification(partner.api);
  const { cancelToken: personal } = await takeSession(api, id);
  const cancel = (token: string, at = api) => at.post(`${path}/cancel`, { cancel_token: token });
  expectError(await cancel("guess"), 401, "CANCEL_TOKEN_INVALID");
  expectError(await cancel(other.cancelToken), 401, "CANCEL_TOKEN_INVALID");
  const answers = await Promise.all([cancel(personal), cancel(personal, second.api)]);
  const [won, lost] = answers.sort((a, b) => a.status - b.status);
  assert.deepEqual(expectData(won as Answer), { outcome: "cancelled", status: "cancelled" });
  expectError(lost as Answer, 409, "CANCEL_TOKEN_USED");
  assert.deepEqual(await eventsOf(core, id), ["verification.session.cancelled"]);
  const attempts = await core.db.rows(
    sql`select status, failure_code from attempts where session_id = ${id}`,
  );
  assert.deepEqual(attempts, [{ status: "cancelled", failureCode: "session_cancelled" }]);
  // The partner's token was not used and has nothing left to cancel.
  assert.equal(expectData(await cancel(cancelToken)).status, "cancelled");
  expectError(await cancel(cancelToken), 409, "CANCEL_TOKEN_USED");
  assert.equal((await eventsOf(core, id)).length, 1);
  const details = expectData(await api.get(`${path}/details`));
  assert.equal(details.consent.withdrawn_at, clock.now().toISOString());
  // The receipt stays readable with the token.
  expectData(await api.as(personal).get(`${path}/consent-receipt`));
});

test("consent withdrawn before anything was delivered: the partner hears that, and never the claims", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const owner = await createPartner(api);
  await createReceivingEndpoint(owner.api, receiver.url);
  const { id, path } = await startVerification(owner.api);
  const { cancelToken, attemptId } = await takeSession(api, id);
  await succeed(core, id, attemptId);
  await receiver.until(1);
  await service.runJob("deliver-webhooks");
  receiver.answerWith(() => ({ status: 200 }));
  const tried = receiver.received.length;
  const withdrawn = expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken }));
  assert.deepEqual(withdrawn, { outcome: "consent_withdrawn", status: "cancelled" });
  // Settled before the clock moves: a delivery whose lease runs out is sent again.
  await service.runJob("deliver-webhooks");
  clock.advance(10 * minuteMs);
  await service.runJob("deliver-webhooks");
  const after = receiver.received.slice(tried);
  const events = await Promise.all(after.map(async ({ body }) => (await decrypt(body)).event));
  assert.deepEqual(
    events.map((event) => event.type),
    ["verification.session.cancelled"],
  );
  assert.deepEqual(events[0].data, {
    outcome: "not_verified",
    reason: "consent_withdrawn",
    nfc_tries_used: 1,
    liveness_tries_used: 1,
    return_code_sha256: null,
  });
  assert.deepEqual(await eventsOf(core, id), [
    "verification.session.succeeded",
    "verification.session.cancelled",
  ]);
  assert.equal(expectData(await owner.api.get(`/v1/sessions/${id}`)).status, "cancelled");
  const listed = expectData<{ id: string; type: string; retracted_at: string | null }[]>(
    await owner.api.get("/v1/webhooks/events", { session_id: id }),
  );
  const [cancelled, succeeded] = listed;
  assert.deepEqual(
    listed.map((event) => [event.type, event.retracted_at !== null]),
    [
      ["verification.session.cancelled", false],
      ["verification.session.succeeded", true],
    ],
  );
  expectError(
    await owner.api.post(`/v1/webhooks/events/${succeeded?.id}/replay`),
    409,
    "WEBHOOK_PAYLOAD_EXPIRED",
  );
  assert.notEqual(cancelled?.id, succeeded?.id);
});

test("consent withdrawn after delivery: the outcome stands, and the answer says so", async () => {
  const receiver = await startReceiver(authority);
  const owner = await createPartner(api);
  await createReceivingEndpoint(owner.api, receiver.url);
  const { id, path, cancelToken: partners } = await startVerification(owner.api);
  const { cancelToken, attemptId } = await takeSession(api, id);
  await succeed(core, id, attemptId);
  await service.runJob("deliver-webhooks");
  assert.equal(receiver.received.length, 1);
  const withdrawn = expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken }));
  assert.deepEqual(withdrawn, { outcome: "withdrawn_after_delivery", status: "succeeded" });
  expectError(await api.post(`${path}/cancel`, { cancel_token: cancelToken }), 409, "CANCEL_TOKEN_USED");
  assert.notEqual(expectData(await api.get(`${path}/details`)).consent.withdrawn_at, null);
  assert.equal(expectData(await owner.api.get(`/v1/sessions/${id}`)).status, "succeeded");
  assert.equal(
    expectData(await api.post(`${path}/cancel`, { cancel_token: partners })).outcome,
    "withdrawn_after_delivery",
  );
});

test("no token and no device name is in a table or in the log", async () => {
  const device = `device-${randomUUID()}`;
  const { id, cancelToken } = await startVerification(partner.api);
  const taken = await takeSession(api, id, device);
  const spare = await handOff(api, id, taken.cancelToken);
  const secrets = [cancelToken, taken.cancelToken, taken.handoffToken, taken.socketToken, spare, device];
  const tables = await core.db.rows<{ name: string }>(
    sql`select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  assert.ok(tables.length > 20);
  for (const { name } of tables) {
    const rows = await core.db.rows<{ text: string }>(
      sql`select t::text as text from ${new Sql([`"${name}"`], [])} t`,
    );
    const text = rows.map((row) => row.text).join("\n");
    for (const secret of secrets) {
      assert.ok(!text.includes(secret), `a secret is in ${name}`);
      // Bytes are shown as hexadecimal.
      assert.ok(!text.includes(Buffer.from(secret).toString("hex")), `a secret is in ${name}, as bytes`);
    }
  }
  assert.ok(logLines.length > 0);
  for (const secret of [...secrets, id])
    assert.ok(![...logLines, ...second.logLines].some((line) => line.includes(secret)), "in the log");
});
