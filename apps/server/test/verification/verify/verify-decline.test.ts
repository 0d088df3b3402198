import assert from "node:assert/strict";
import test from "node:test";
import { hourMs, later, minuteMs } from "../../../src/platform/kernel/clock.ts";
import { setPendingDeletion } from "../../../src/tenants/organizations/deletion.store.ts";
import { type Api, createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createReceivingEndpoint, decrypt, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { succeed } from "../../support/sessions.ts";
import { agree, requiredKeys, startVerification, takeSession, termsVersion } from "../../support/verify.ts";

const authority = createAuthority();
const service = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1", PUBLIC_URL: "https://verify.example.org" },
  webhooks: { ca: authority.certificate },
});
const { api, clock, core } = service;
const partner = await createPartner(api);
const redirect = { redirect_url: "https://shop.example.com/done?order=7" };

async function eventsOf(by: Api, id: string): Promise<string[]> {
  const events = expectData<{ type: string }[]>(await by.get("/v1/webhooks/events", { session_id: id }));
  return events.map(({ type }) => type);
}

test("declining ends the session, notifies the partner and returns the address to go back to", async () => {
  const receiver = await startReceiver(authority);
  const own = await createPartner(api);
  await createReceivingEndpoint(own.api, receiver.url);
  const { id, path } = await startVerification(own.api, redirect);
  const declined = expectData(await api.post(`${path}/decline`));
  assert.deepEqual(declined, {
    status: "cancelled",
    redirect_url: `https://shop.example.com/done?order=7&session_id=${id}&status=cancelled`,
  });
  const read = expectData(await own.api.get(`/v1/sessions/${id}`));
  assert.equal(read.status, "cancelled");
  assert.equal(read.completed_at, clock.now().toISOString());
  await receiver.until(1);
  const { event } = await decrypt(receiver.received[0]?.body ?? "");
  assert.equal(event.type, "verification.session.cancelled");
  assert.deepEqual(event.data, {
    outcome: "not_verified",
    reason: "cancelled_by_user",
    nfc_tries_used: 0,
    liveness_tries_used: 0,
    return_code_sha256: null,
  });
  const status = expectData(await api.get(`${path}/status`));
  assert.equal(status.return_url, declined.redirect_url);
});

test("without an address of the partner the person stays on the closing page", async () => {
  const { id, path } = await startVerification(partner.api);
  const { redirect_url } = expectData(await api.post(`${path}/decline`));
  assert.equal(redirect_url, `https://verify.example.org/verify/${id}/complete`);
});

test("declining again changes nothing and answers alike, and no one can agree any more", async () => {
  const { id, path } = await startVerification(partner.api, redirect);
  const first = expectData(await api.post(`${path}/decline`));
  clock.advance(minuteMs);
  assert.deepEqual(expectData(await api.post(`${path}/decline`)), first);
  assert.deepEqual(await eventsOf(partner.api, id), ["verification.session.cancelled"]);
  const consent = { selected_field_keys: requiredKeys, terms_version: termsVersion };
  expectError(await api.post(`${path}/consent`, consent), 409, "SESSION_ENDED");
});

test("two that decline at once end it once; of agreeing and declining at once exactly one holds", async () => {
  const both = await startVerification(partner.api, redirect);
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.post(`${both.path}/decline`)));
  for (const answer of answers) expectData(answer);
  assert.deepEqual(await eventsOf(partner.api, both.id), ["verification.session.cancelled"]);

  for (let round = 0; round < 8; round++) {
    const { id, path } = await startVerification(partner.api);
    const keys = { selected_field_keys: requiredKeys, terms_version: termsVersion };
    const agreeing = () => api.post(`${path}/consent`, keys);
    const declining = () => api.post(`${path}/decline`);
    const [first, second] = round % 2 === 0 ? [agreeing, declining] : [declining, agreeing];
    const pair = await Promise.all([first(), second()]);
    const [agreed, declined] = round % 2 === 0 ? pair : [pair[1], pair[0]];
    const { status } = expectData(await partner.api.get(`/v1/sessions/${id}`));
    if (status === "cancelled") {
      expectData(declined);
      expectError(agreed, 409, "SESSION_ENDED");
    } else {
      expectData(agreed, 201);
      expectError(declined, 409, "CONFLICT");
    }
  }
});

test("once a person has agreed, declining is refused in every state and changes nothing", async () => {
  const { id, path } = await startVerification(partner.api);
  await agree(api, id);
  expectError(await api.post(`${path}/decline`), 409, "CONFLICT");
  const { attemptId, cancelToken } = await takeSession(api, id);
  expectError(await api.post(`${path}/decline`), 409, "CONFLICT");
  await succeed(core, id, attemptId);
  expectError(await api.post(`${path}/decline`), 409, "CONFLICT");
  assert.deepEqual(await eventsOf(partner.api, id), ["verification.session.succeeded"]);
  expectData(await api.post(`${path}/cancel`, { cancel_token: cancelToken }));
  expectError(await api.post(`${path}/decline`), 409, "CONFLICT");
});

test("an organization that is being deleted can still be declined; a session whose time is over cannot", async () => {
  const own = await createPartner(api);
  const { id, path } = await startVerification(own.api);
  const now = clock.now();
  await core.db.transaction((tx) => setPendingDeletion(tx, own.organizationId, later(now, hourMs), now));
  expectData(await api.post(`${path}/decline`));
  assert.equal(expectData(await api.get(`${path}/status`)).status, "cancelled", id);

  const late = await startVerification(partner.api);
  clock.advance(hourMs);
  expectError(await api.post(`${late.path}/decline`), 409, "SESSION_EXPIRED");
});
