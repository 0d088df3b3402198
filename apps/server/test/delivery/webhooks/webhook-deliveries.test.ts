import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import type { EndpointId, OrganizationId } from "@assay/contract/ids";
import { Webhook } from "standardwebhooks";
import { claimDue } from "../../../src/delivery/webhooks/delivery.store.ts";
import {
  type NewEvent,
  publishEvents,
  type SessionEvent,
} from "../../../src/delivery/webhooks/publish-event.ts";
import { scrubSessionDeliveries } from "../../../src/delivery/webhooks/scrub-session-deliveries.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { later } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { openLive, withLiveKey } from "../../support/live.ts";
import { createReceivingEndpoint, decrypt, registration, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

const authority = createAuthority();
const { api, clock, core, runJob, logLines, dataDirs } = await startTestService({
  env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" },
  webhooks: { ca: authority.certificate },
});
const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const deliver = () => runJob("deliver-webhooks");

/** Resolves once the receiver has read a request, whether or not it has answered. */
async function arrival(receiver: { received: readonly unknown[] }): Promise<void> {
  await until("a request has arrived", () => receiver.received.length > 0);
}

type Success = Extract<SessionEvent, { type: "verification.session.succeeded" }>;
// A part is enough: these tests are about the delivery, and `claims.test.ts` about all that a success says.
const claims: Record<string, unknown> = { family_name: "ERIKSSON-SECRET" };

function sessionEvent(
  organizationId: OrganizationId,
  content: SessionEvent = {
    type: "verification.session.succeeded",
    data: { claims, selected_field_keys: ["family_name"] } as Success["data"],
  },
) {
  return {
    session: {
      id: newId("vs", clock.now()),
      organizationId,
      sandbox: true,
      contractVersion: 1,
      clientReferenceId: "order-7",
      webhookEndpointId: null as EndpointId | null,
    },
    ...content,
  } satisfies NewEvent;
}

async function publish(...events: NewEvent[]): Promise<string[]> {
  return core.db.transaction((tx) => publishEvents(core, tx, clock.now(), events));
}

async function deliveryOf(partner: { api: typeof api }, eventId: string) {
  const [delivery] = expectData<any[]>(
    await partner.api.get("/v1/webhooks/deliveries", { event_id: eventId }),
  );
  assert.ok(delivery);
  return delivery;
}

async function payloadOf(deliveryId: string): Promise<Buffer | null> {
  const row = await core.db.one<{ payload: Buffer | null }>(
    sql`select payload from webhook_deliveries where id = ${deliveryId}`,
  );
  return row.payload;
}

test("an outcome arrives sealed, and existing libraries verify and open it unchanged", async () => {
  // In the second half of a second, where rounding and truncating differ.
  clock.set(new Date(Math.floor(Date.now() / 1000) * 1000 + 600));
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const event = sessionEvent(partner.organizationId);
  const [eventId = ""] = await publish(event);
  await deliver();

  const [request] = receiver.received;
  assert.ok(request);
  assert.equal(receiver.received.length, 1);
  assert.equal(request.headers["content-type"], "application/jose");
  const delivery = await deliveryOf(partner, eventId);
  assert.equal(request.headers["x-service-delivery-id"], delivery.id);
  assert.equal(request.headers["x-service-event"], event.type);
  assert.equal(request.headers["webhook-id"], eventId);

  const headers = request.headers as Record<string, string>;
  new Webhook(endpoint.secret).verify(request.body, headers, { jsonParse: false });
  assert.throws(() => new Webhook(endpoint.secret).verify(`${request.body}x`, headers, { jsonParse: false }));

  const signature = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers["x-service-signature"]));
  assert.ok(signature);
  assert.equal(Number(signature[1]), Math.floor(clock.now().getTime() / 1000));
  assert.equal(
    createHmac("sha256", endpoint.secret).update(`${signature[1]}.${request.body}`).digest("hex"),
    signature[2],
  );

  const { header, event: opened } = await decrypt(request.body);
  assert.deepEqual(header, { alg: "RSA-OAEP-256", enc: "A256GCM", kid: "key-1" });
  assert.deepEqual(opened, {
    id: eventId,
    type: "verification.session.succeeded",
    created_at: clock.now().toISOString(),
    sandbox: true,
    metadata: {
      event_id: eventId,
      verification_session_id: event.session?.id,
      contract_version: 1,
      client_reference_id: "order-7",
    },
    data: { claims: { family_name: "ERIKSSON-SECRET" }, selected_field_keys: ["family_name"] },
  });

  assert.equal(delivery.status, "succeeded");
  assert.equal(delivery.attempt_count, 1);
  assert.equal(delivery.last_status_code, 200);
  assert.equal(delivery.webhook_encryption_key_id, endpoint.keyId);
  assert.equal(delivery.payload_scrubbed_at, clock.now().toISOString());
  assert.equal(await payloadOf(delivery.id), null);
  const full = expectData(await partner.api.get(`/v1/webhooks/deliveries/${delivery.id}`));
  assert.equal(full.attempts.length, 1);
  assert.match(full.attempts[0].id, /^wha_[A-Za-z0-9]{64}$/);
  assert.deepEqual([full.attempts[0].status_code, full.attempts[0].error], [200, null]);
  assert.ok(full.attempts[0].duration_ms >= 0);
  assert.equal(full.attempts[0].attempted_at, delivery.last_attempt_at);
  const again = expectData(await partner.api.get(`/v1/webhooks/deliveries/${delivery.id}`));
  assert.deepEqual(again.attempts, full.attempts);

  // Nothing that was written anywhere holds the claim in the clear.
  for (const table of [
    sql`events`,
    sql`webhook_deliveries`,
    sql`webhook_attempts`,
    sql`audit_logs`,
    sql`mails`,
  ]) {
    const rows = await core.db.rows(sql`select * from ${table}`);
    assert.ok(!JSON.stringify(rows).includes("ERIKSSON-SECRET"));
  }
  assert.ok(!logLines.join("").includes("ERIKSSON-SECRET"));
  expectError(
    await partner.api.post(`/v1/webhooks/deliveries/${delivery.id}/retry`),
    409,
    "WEBHOOK_PAYLOAD_EXPIRED",
  );
  expectError(
    await partner.api.post(`/v1/webhooks/events/${eventId}/replay`),
    409,
    "WEBHOOK_PAYLOAD_EXPIRED",
  );
});

test("eight tries on schedule, then the payload waits for its retention and is gone", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url, { undelivered_payload_retention_hours: 24 });
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const delays = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];
  for (const [index, delay] of delays.entries()) {
    await deliver();
    const delivery = await deliveryOf(partner, eventId);
    assert.equal(receiver.received.length, index + 1);
    assert.deepEqual([delivery.status, delivery.last_error], ["pending", "status_not_2xx"]);
    const wait = (Date.parse(delivery.next_attempt_at) - clock.now().getTime()) / 1000;
    assert.ok(wait >= delay && wait <= delay * 1.1, `try ${index + 1} waits ${wait} s`);
    clock.advance(delay * secondMs - 1);
    await deliver();
    assert.equal(receiver.received.length, index + 1, "not before its time");
    clock.set(new Date(delivery.next_attempt_at));
  }
  await deliver();
  assert.equal(receiver.received.length, 8);
  const failed = await deliveryOf(partner, eventId);
  assert.deepEqual([failed.status, failed.attempt_count, failed.next_attempt_at], ["failed", 8, null]);
  assert.equal(Date.parse(failed.payload_expires_at) - clock.now().getTime(), 24 * hourMs);
  // Every body was the same sealed text, with a new signature each time.
  assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
  assert.equal(new Set(receiver.received.map(({ headers }) => headers["x-service-signature"])).size, 8);

  clock.advance(24 * hourMs - 1);
  await runJob("scrub-webhook-payloads");
  assert.notEqual(await payloadOf(failed.id), null);
  clock.advance(1);
  expectError(
    await partner.api.post(`/v1/webhooks/deliveries/${failed.id}/retry`),
    409,
    "WEBHOOK_PAYLOAD_EXPIRED",
  );
  await runJob("scrub-webhook-payloads");
  assert.equal(await payloadOf(failed.id), null);
  assert.equal((await deliveryOf(partner, eventId)).payload_scrubbed_at, clock.now().toISOString());
});

test("retention of 0 hours scrubs with the last try; a retry starts the schedule again", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 503 }));
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url, {
    undelivered_payload_retention_hours: 0,
  });
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  clock.advance(10 * secondMs);
  await deliver();
  const { id } = await deliveryOf(partner, eventId);
  const retried = expectData(await partner.api.post(`/v1/webhooks/deliveries/${id}/retry`), 202);
  assert.equal(retried.status, "pending");
  await deliver();
  const again = await deliveryOf(partner, eventId);
  assert.equal(again.attempt_count, 3);
  const wait = Date.parse(again.next_attempt_at) - clock.now().getTime();
  assert.ok(wait <= 5.5 * secondMs, "the first wait of a new schedule");
  for (let i = 0; i < 8; i++) {
    clock.advance(12 * hourMs);
    await deliver();
  }
  const failed = await deliveryOf(partner, eventId);
  assert.deepEqual([failed.status, failed.attempt_count, failed.payload_expires_at], ["failed", 10, null]);
  assert.equal(await payloadOf(id), null);
  assert.equal(endpoint.id, failed.webhook_endpoint_id);
});

test("Retry-After is respected up to a day", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  for (const [header, seconds] of [
    ["120", 120],
    ["999999999", 86_400],
  ] as const) {
    receiver.answerWith(() => ({ status: 429, headers: { "retry-after": header } }));
    const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
    await deliver();
    const delivery = await deliveryOf(partner, eventId);
    assert.equal(Date.parse(delivery.next_attempt_at) - clock.now().getTime(), seconds * secondMs);
  }
});

test("redirects are not followed, and neither silence nor a flood of headers is a success", async () => {
  const target = await startReceiver(authority);
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const outcomeOf = async (answer: Parameters<typeof receiver.answerWith>[0]) => {
    receiver.answerWith(answer);
    const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
    await deliver();
    const delivery = await deliveryOf(partner, eventId);
    return [delivery.last_status_code, delivery.last_error];
  };
  for (const status of [301, 302, 303, 307, 308])
    assert.deepEqual(await outcomeOf(() => ({ status, headers: { location: target.url } })), [
      status,
      "redirect_not_followed",
    ]);
  assert.equal(target.connections, 0);
  assert.deepEqual(await outcomeOf(() => ({ status: 404 })), [404, "status_not_2xx"]);
  assert.deepEqual(await outcomeOf(() => ({ status: 200, headers: { "x-big": "x".repeat(20_000) } })), [
    null,
    "response_invalid",
  ]);
  assert.deepEqual(
    await outcomeOf((_received, response) => {
      response.socket?.destroy();
      return null;
    }),
    [null, "connection_failed"],
  );
  // The status counts; an endless body does not delay the worker.
  assert.deepEqual(
    await outcomeOf((_received, response) => {
      response.writeHead(204);
      response.end();
      return null;
    }),
    [204, null],
  );
  assert.deepEqual(
    await outcomeOf((_received, response) => {
      response.writeHead(200, { "content-length": "1000000" });
      response.write("x".repeat(100_000));
      return null;
    }),
    [200, null],
  );
});

test("a certificate that we do not trust, or that is for another name, is refused", async () => {
  const stranger = await startReceiver(createAuthority("Somebody else"));
  const otherName = await startReceiver(authority, "127.0.0.1");
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, stranger.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  assert.equal((await deliveryOf(partner, eventId)).last_error, "tls_failed");
  assert.equal(stranger.received.length, 0);
  assert.equal(otherName.received.length, 0);
});

test("only subscribed types arrive, a bound session delivers only to its endpoint", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const failedOnly = await createReceivingEndpoint(partner.api, `${receiver.url}/failed`, {
    subscribed_event_types: ["verification.session.failed"],
  });
  await createReceivingEndpoint(partner.api, `${receiver.url}/none`, { subscribed_event_types: [] });
  await createReceivingEndpoint(partner.api, `${receiver.url}/all`);
  const failed = sessionEvent(partner.organizationId, {
    type: "verification.session.failed",
    data: {
      failure_code: "liveness_failed",
      unmet_requirement: null,
      nfc_tries_used: 1,
      liveness_tries_used: 3,
      return_code_sha256: null,
    },
  });
  const bound = { ...failed, session: { ...failed.session, webhookEndpointId: failedOnly.id } };
  await publish(sessionEvent(partner.organizationId), failed, bound);
  await deliver();
  const paths = receiver.received.map(({ path }) => path).sort();
  assert.deepEqual(paths, ["/hook/all", "/hook/all", "/hook/failed", "/hook/failed"]);
});

test("a sandbox result reaches no live endpoint and a live result no sandbox one, bound or not", async () => {
  const receiver = await startReceiver(authority);
  const sandbox = await createPartner(api);
  await openLive(core, sandbox.organizationId);
  const live = await withLiveKey(sandbox);
  const inSandbox = await createReceivingEndpoint(sandbox.api, `${receiver.url}/sandbox`);
  const inLive = await createReceivingEndpoint(live.api, `${receiver.url}/live`);
  const result = sessionEvent(sandbox.organizationId);
  for (const [isSandbox, other] of [
    [true, inLive],
    [false, inSandbox],
  ] as const) {
    const before = receiver.received.length;
    const session = { ...result.session, sandbox: isSandbox };
    await publish(
      { ...result, session },
      { ...result, session: { ...session, webhookEndpointId: other.id } },
    );
    await deliver();
    const paths = receiver.received.slice(before).map(({ path }) => path);
    assert.deepEqual(paths, [isSandbox ? "/hook/sandbox" : "/hook/live"]);
  }
});

test("with several active keys the latest is used; with none nothing is sent and owners get one mail a day", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const kidOfNext = async () => {
    const before = receiver.received.length;
    await publish(sessionEvent(partner.organizationId));
    await deliver();
    return (await decrypt(receiver.received[before]?.body ?? "")).header.kid;
  };
  expectData(
    await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/keys`, registration("key-2")),
    201,
  );
  assert.equal(await kidOfNext(), "key-2");
  expectData(await partner.api.post(`/v1/webhooks/keys/${endpoint.keyId}/deactivate`));
  expectData(await partner.api.post(`/v1/webhooks/keys/${endpoint.keyId}/reactivate`));
  assert.equal(await kidOfNext(), "key-1");
  expectData(await partner.api.post("/v1/webhooks/keys/key-1/deactivate"));
  expectData(await partner.api.post("/v1/webhooks/keys/key-2/deactivate"));

  const mailsBefore = await countMails(partner.organizationId);
  const sent = receiver.received.length;
  const [eventId = ""] = await publish(
    sessionEvent(partner.organizationId),
    sessionEvent(partner.organizationId),
  );
  await publish(sessionEvent(partner.organizationId));
  await deliver();
  assert.equal(receiver.received.length, sent);
  const delivery = await deliveryOf(partner, eventId);
  assert.deepEqual(
    [delivery.status, delivery.last_error, delivery.attempt_count, delivery.webhook_encryption_key_id],
    ["failed", "no_active_key", 0, null],
  );
  assert.equal(await payloadOf(delivery.id), null);
  expectError(
    await partner.api.post(`/v1/webhooks/deliveries/${delivery.id}/retry`),
    409,
    "WEBHOOK_PAYLOAD_EXPIRED",
  );
  assert.equal((await countMails(partner.organizationId)) - mailsBefore, 1);
  clock.advance(dayMs);
  await publish(sessionEvent(partner.organizationId));
  assert.equal((await countMails(partner.organizationId)) - mailsBefore, 2);
});

/** Mails of the service that the owners got about webhooks; without a mail server each one is a file. */
async function countMails(organizationId: string): Promise<number> {
  await runJob("send-mails");
  const folders = dataDirs.map((dataDir) => join(dataDir, "mail")).filter((folder) => existsSync(folder));
  const owners = await core.db.rows<{ email: string }>(
    sql`select u.email from users u join memberships m on m.user_id = u.id where m.organization_id = ${organizationId}`,
  );
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  return files.filter((file) => {
    const text = readFileSync(file, "utf8");
    return (
      owners.some(({ email }) => text.includes(`To: ${email}`)) &&
      /^Subject: .*webhook/im.test(text) &&
      /^.*127\.0\.0\.1:\d+ \(sandbox\)/m.test(text)
    );
  }).length;
}

test("410 disables the endpoint, holds pending deliveries and mails the owners; enabling resumes them", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 410 }));
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  const disabled = expectData(await partner.api.get(`/v1/webhooks/endpoints/${endpoint.id}`));
  assert.deepEqual([disabled.enabled, disabled.disabled_reason], [false, "endpoint_gone"]);
  assert.equal(disabled.disabled_at, clock.now().toISOString());
  assert.equal(await countMails(partner.organizationId), 1);
  clock.advance(dayMs);
  await deliver();
  const held = await deliveryOf(partner, eventId);
  // What another test has left due may have had this port before.
  const received = () => receiver.received.filter(({ headers }) => headers["webhook-id"] === eventId).length;
  assert.deepEqual([held.status, held.attempt_count, received()], ["pending", 1, 1]);
  // A manual retry is queued and held as well.
  expectData(await partner.api.post(`/v1/webhooks/deliveries/${held.id}/retry`), 202);
  await deliver();
  assert.equal(received(), 1);
  expectError(await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/test`), 409, "ENDPOINT_DISABLED");

  receiver.answerWith(() => ({ status: 200 }));
  const enabled = expectData(
    await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { enabled: true }),
  );
  assert.deepEqual([enabled.enabled, enabled.disabled_reason, enabled.disabled_at], [true, null, null]);
  await deliver();
  assert.equal((await deliveryOf(partner, eventId)).status, "succeeded");
  const audit = expectData<any[]>(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "webhook_endpoint.disabled" }),
  );
  assert.deepEqual(
    [audit.length, audit[0].actor_type, audit[0].details],
    [1, "system", { reason: "endpoint_gone" }],
  );
});

test("five days without one success disable the endpoint, a success in between does not", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const attempt = async (status: number) => {
    receiver.answerWith(() => ({ status }));
    const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
    await deliver();
    // Only this attempt matters, so its retries are removed.
    await core.db.run(sql`
      with ended as (
        update webhook_deliveries set status = 'failed', failed = true, payload = null
        where event_id = ${eventId} and status = 'pending' returning id)
      delete from webhook_delivery_queue where delivery_id in (select id from ended)`);
    return expectData(await partner.api.get(`/v1/webhooks/endpoints/${endpoint.id}`)).disabled_reason;
  };
  assert.equal(await attempt(500), null);
  clock.advance(4 * dayMs);
  assert.equal(await attempt(200), null);
  clock.advance(2 * dayMs);
  assert.equal(await attempt(500), null);
  clock.advance(5 * dayMs - 1);
  assert.equal(await attempt(500), null);
  clock.advance(1);
  assert.equal(await attempt(500), "no_success_for_5_days");

  // Enabling it and another URL begin the count again; nothing else does.
  const change = async (body: Record<string, unknown>) =>
    expectData(await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, body));
  await change({ enabled: true });
  assert.equal(await attempt(500), null);
  clock.advance(4 * dayMs);
  await change({ url: `${receiver.url}/moved` });
  assert.equal(await attempt(500), null);
  clock.advance(5 * dayMs);
  await change({ enabled: true, name: "Still enabled", url: `${receiver.url}/moved` });
  assert.equal(await attempt(500), "no_success_for_5_days");
});

test("after a rotation the next send carries the new secret only", async () => {
  clock.set(new Date());
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  await publish(sessionEvent(partner.organizationId));
  await deliver();
  const rotated = expectData(
    await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`),
  );
  assert.notEqual(rotated.signing_secret, endpoint.secret);
  clock.advance(6 * secondMs);
  await deliver();
  const verify = (secret: string, index: number) => {
    const request = receiver.received[index];
    new Webhook(secret).verify(request?.body ?? "", request?.headers as Record<string, string>, {
      jsonParse: false,
    });
  };
  verify(endpoint.secret, 0);
  verify(rotated.signing_secret, 1);
  assert.throws(() => verify(endpoint.secret, 1));
});

test("with an overlap a delivery carries both signatures until it ends, and the secret before is then erased", async () => {
  clock.set(new Date());
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const rotate = async (overlap_hours: number) =>
    expectData(
      await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`, {
        overlap_hours,
      }),
    );
  const deliveredWith = async (secrets: readonly string[]) => {
    await publish(sessionEvent(partner.organizationId));
    await deliver();
    const { body = "", headers = {} } = receiver.received.at(-1) ?? {};
    const signatures = String(headers["x-service-signature"]).split(" ");
    const time = headers["webhook-timestamp"];
    const expected = secrets.map(
      (secret) => `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`,
    );
    assert.deepEqual(signatures, expected);
    // The library compares with the real time, so it is asked before the clock is moved.
    for (const secret of secrets.length === 2 ? secrets : [])
      new Webhook(secret).verify(body, headers as Record<string, string>, { jsonParse: false });
  };
  const second = await rotate(24);
  assert.equal(second.previous_secret_until, new Date(clock.now().getTime() + dayMs).toISOString());
  await deliveredWith([second.signing_secret, endpoint.secret]);
  const third = await rotate(1);
  await deliveredWith([third.signing_secret, second.signing_secret]);
  clock.advance(hourMs);
  await deliveredWith([third.signing_secret]);
  await runJob("purge-webhook-history");
  const [row] = await core.db.rows(
    sql`select previous_signing_secret, previous_signing_secret_until from webhook_endpoints where id = ${endpoint.id}`,
  );
  assert.deepEqual(row, { previousSigningSecret: null, previousSigningSecretUntil: null });
  await rotate(1);
  const last = await rotate(0);
  assert.equal(last.previous_secret_until, null);
  await deliveredWith([last.signing_secret]);
  const refused = await partner.api.post(`/v1/webhooks/endpoints/${endpoint.id}/signing-secret/rotate`, {
    overlap_hours: 73,
  });
  assert.equal(refused.status, 400);
});

test("a delivery in flight refuses a retry; deleting the endpoint ends it and scrubs the payload", async () => {
  const receiver = await startReceiver(authority);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  receiver.answerWith(async () => {
    await held;
    return { status: 500 };
  });
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const sending = deliver();
  await arrival(receiver);
  const { id, status } = await deliveryOf(partner, eventId);
  assert.equal(status, "delivering");
  expectError(await partner.api.post(`/v1/webhooks/deliveries/${id}/retry`), 409, "CONFLICT");
  expectError(await partner.api.post(`/v1/webhooks/events/${eventId}/replay`), 409, "CONFLICT");
  assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204);
  release();
  await sending;
  const ended = await deliveryOf(partner, eventId);
  assert.deepEqual([ended.status, ended.last_error], ["failed", "endpoint_deleted"]);
  assert.equal(await payloadOf(id), null);
  clock.advance(dayMs);
  await deliver();
  assert.equal(receiver.received.length, 1);
});

test("a delivery that was written while its endpoint was being deleted does not wait for ever", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { enabled: true });
  await core.db.transaction(async (tx) => {
    const [eventId = ""] = await publishEvents(core, tx, clock.now(), [sessionEvent(partner.organizationId)]);
    assert.equal((await partner.api.delete(`/v1/webhooks/endpoints/${endpoint.id}`)).status, 204);
    return eventId;
  });
  await deliver();
  const [delivery] = expectData<any[]>(await partner.api.get("/v1/webhooks/deliveries"));
  assert.deepEqual([delivery.status, delivery.last_error], ["failed", "endpoint_deleted"]);
  assert.equal(receiver.received.length, 0);
});

test("a replay restarts the deliveries of its event only, also where another one was published at the same time", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const { organizationId } = partner;
  const [eventId = "", otherId = ""] = await publish(
    sessionEvent(organizationId),
    sessionEvent(organizationId),
  );
  await deliver();
  const other = await deliveryOf(partner, otherId);
  assert.equal(other.attempt_count, 1);
  receiver.answerWith(() => ({ status: 200 }));
  const { deliveries } = expectData(await partner.api.post(`/v1/webhooks/events/${eventId}/replay`), 202);
  assert.deepEqual(
    deliveries.map((delivery: any) => delivery.event_id),
    [eventId],
  );
  await deliver();
  assert.equal((await deliveryOf(partner, eventId)).status, "succeeded");
  assert.deepEqual(await deliveryOf(partner, otherId), other);
});

test("replay sends again wherever the payload is still there", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(({ path }) => ({ status: path.endsWith("/good") ? 200 : 500 }));
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, `${receiver.url}/good`);
  await createReceivingEndpoint(partner.api, `${receiver.url}/bad`);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  receiver.answerWith(() => ({ status: 200 }));
  const replayed = expectData(await partner.api.post(`/v1/webhooks/events/${eventId}/replay`), 202);
  assert.equal(replayed.event.id, eventId);
  assert.equal(replayed.deliveries.length, 1);
  await deliver();
  assert.deepEqual(receiver.received.map(({ path }) => path).sort(), [
    "/hook/bad",
    "/hook/bad",
    "/hook/good",
  ]);
  const all = expectData<any[]>(await partner.api.get("/v1/webhooks/deliveries", { status: "succeeded" }));
  assert.equal(all.length, 2);
});

test("a replay asks to wait as long as one delivery is being sent, although the others cannot be sent again", async () => {
  const receiver = await startReceiver(authority);
  const held = Promise.withResolvers<void>();
  receiver.answerWith(async ({ path }) => {
    if (path.endsWith("/slow")) await held.promise;
    return { status: 200 };
  });
  const partner = await createPartner(api);
  for (const path of ["slow", "quick"]) await createReceivingEndpoint(partner.api, `${receiver.url}/${path}`);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const sending = deliver();
  await until("one has arrived, and one is on its way", async () => {
    const listed = expectData<any[]>(await partner.api.get("/v1/webhooks/deliveries", { event_id: eventId }));
    return (
      listed
        .map(({ status }) => status)
        .sort()
        .join() === "delivering,succeeded"
    );
  });
  const replay = () => partner.api.post(`/v1/webhooks/events/${eventId}/replay`);
  expectError(await replay(), 409, "CONFLICT", /being sent right now/);
  held.resolve();
  await sending;
  expectError(await replay(), 409, "WEBHOOK_PAYLOAD_EXPIRED");
});

test("another organization restarts nothing, also where there is something to restart", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  const stranger = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  for (const status of ["pending", "failed"]) {
    const before = await deliveryOf(partner, eventId);
    assert.equal(before.status, status);
    assert.notEqual(await payloadOf(before.id), null, "it could be sent again");
    for (const { api: caller } of [stranger, stranger.owner]) {
      expectError(await caller.post(`/v1/webhooks/deliveries/${before.id}/retry`), 404, "NOT_FOUND");
      expectError(await caller.post(`/v1/webhooks/events/${eventId}/replay`), 404, "NOT_FOUND");
    }
    assert.deepEqual(await deliveryOf(partner, eventId), before);
    for (let tries = receiver.received.length; tries < 8; tries++) {
      clock.advance(12 * hourMs);
      await deliver();
    }
  }
});

test("the failed deliveries of an endpoint in a period are retried in batches, each once, and no other organization can", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  const stranger = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, `${receiver.url}/one`);
  const other = await createReceivingEndpoint(partner.api, `${receiver.url}/other`);
  const failAll = async () => {
    // The row of the queue first: without it the result of a running try is dropped.
    await core.db.run(sql`
      delete from webhook_delivery_queue where organization_id = ${partner.organizationId}`);
    await core.db.run(sql`
      update webhook_deliveries set status = 'failed', failed = true where organization_id = ${partner.organizationId}`);
  };
  await publish(sessionEvent(partner.organizationId));
  clock.advance(hourMs);
  const createdFrom = clock.now().toISOString();
  await publish(...Array.from({ length: 502 }, () => sessionEvent(partner.organizationId)));
  const createdTo = clock.now().toISOString();
  clock.advance(hourMs);
  await publish(sessionEvent(partner.organizationId));
  // Their endpoint is disabled, so they stay in the state that the route leaves.
  expectData(await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { enabled: false }));
  await failAll();
  const statuses = async (endpointId: string) => {
    const rows = await core.db.rows<{ status: string; count: number }>(sql`
      select status, count(*) from webhook_deliveries where endpoint_id = ${endpointId} group by status order by status`);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  };
  const path = `/v1/webhooks/endpoints/${endpoint.id}/retry-failed`;
  const retry = async (body: object = { created_from: createdFrom, created_to: createdTo }) =>
    expectData(await partner.api.post(path, body), 202);

  for (const { api: caller } of [stranger, stranger.owner])
    expectError(
      await caller.post(path, { created_from: createdFrom, created_to: createdTo }),
      404,
      "NOT_FOUND",
    );
  expectError(
    await partner.api.post(path, {
      created_from: createdTo,
      created_to: later(clock.now(), -2 * hourMs).toISOString(),
    }),
    400,
    "PERIOD_INVALID",
  );
  const longAgo = later(clock.now(), -32 * dayMs).toISOString();
  expectError(
    await partner.api.post(path, { created_from: longAgo, created_to: createdTo }),
    400,
    "PERIOD_INVALID",
    /far apart/,
  );
  assert.deepEqual(await statuses(endpoint.id), { failed: 504 });

  // One payload was scrubbed and cannot be sent.
  await core.db.run(sql`
    update webhook_deliveries set payload_expires_at = ${clock.now()}
    where id = (select max(id) from webhook_deliveries where endpoint_id = ${endpoint.id}
      and created_at = ${new Date(createdTo)})`);
  const first = await Promise.all([retry(), retry()]);
  assert.equal(
    first.reduce((sum, { retried }) => sum + retried, 0),
    501,
    "two at once send each once",
  );
  assert.deepEqual(await retry(), { retried: 0, has_more: false });
  assert.deepEqual(await statuses(endpoint.id), { failed: 3, pending: 501 });
  assert.deepEqual(await statuses(other.id), { failed: 504 }, "the other endpoint's stay");

  const counts = async (query: Record<string, string>, of = partner) =>
    expectData(await of.owner.api.get("/v1/auth/orgs/delivery-counts", query));
  assert.deepEqual(await counts({ endpoint_id: endpoint.id }), {
    all: 504,
    pending: 501,
    succeeded: 0,
    failed: 3,
  });
  assert.deepEqual(await counts({}), { all: 1000, pending: 501, succeeded: 0, failed: 507 });
  assert.deepEqual(await counts({ endpoint_id: endpoint.id, created_from: longAgo, created_to: longAgo }), {
    all: 0,
    pending: 0,
    succeeded: 0,
    failed: 0,
  });
  assert.equal((await counts({ endpoint_id: endpoint.id }, stranger)).all, 0);
});

test("one call retries at most 500 deliveries, and says whether there are more", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  await publish(...Array.from({ length: 501 }, () => sessionEvent(partner.organizationId)));
  expectData(await partner.api.patch(path, { enabled: false }));
  const fail = async (count: number) => {
    const some = sql`select id from webhook_deliveries where endpoint_id = ${endpoint.id} order by id limit ${count}`;
    await core.db.run(sql`delete from webhook_delivery_queue where delivery_id in (${some})`);
    await core.db.run(
      sql`update webhook_deliveries set status = 'failed', failed = true where id in (${some})`,
    );
  };
  const period = { created_from: clock.now().toISOString(), created_to: clock.now().toISOString() };
  const retry = async () => expectData(await partner.api.post(`${path}/retry-failed`, period), 202);
  await fail(501);
  assert.deepEqual(await retry(), { retried: 500, has_more: true });
  assert.deepEqual(await retry(), { retried: 1, has_more: false });
  await fail(500);
  assert.deepEqual(await retry(), { retried: 500, has_more: false });
  // A period of 31 days is the longest.
  const since = (ms: number) => ({ ...period, created_from: later(clock.now(), -ms).toISOString() });
  const retryOf = (body: object) => partner.api.post(`${path}/retry-failed`, body);
  assert.deepEqual(expectData(await retryOf(since(31 * dayMs)), 202), { retried: 0, has_more: false });
  expectError(await retryOf(since(31 * dayMs + 1)), 400, "PERIOD_INVALID", /far apart/);
  const audit = expectData<any[]>(
    await partner.owner.api.get("/v1/auth/orgs/audit-logs", { event: "webhook_endpoint.retried" }),
  );
  assert.deepEqual(
    audit.map(({ details }) => details.deliveries),
    [500, 1, 500],
    "a call that retried nothing leaves no entry",
  );
});

const isOf = (eventId: string) =>
  sql`delivery_id in (select id from webhook_deliveries where event_id = ${eventId})`;

test("a delivery that the same process claimed again keeps the result of the later claim only", async () => {
  for (const status of [500, 200]) await claimedAgain(status);
});

async function claimedAgain(status: number): Promise<void> {
  const receiver = await startReceiver(authority);
  const held = Promise.withResolvers<void>();
  receiver.answerWith(async () => {
    await held.promise;
    return { status };
  });
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const sending = deliver();
  await arrival(receiver);
  // The process was delayed beyond its lease, released it and claimed again: only the lease number differs.
  await core.db.run(
    sql`update webhook_delivery_queue set lease_number = lease_number + 1 where ${isOf(eventId)}`,
  );
  held.resolve();
  await sending;
  const claimed = await deliveryOf(partner, eventId);
  assert.deepEqual(
    [claimed.status, claimed.attempt_count, claimed.last_status_code],
    ["delivering", 0, null],
  );
  receiver.answerWith(() => ({ status: 200 }));
  clock.advance(31 * secondMs);
  await deliver();
  const delivery = await deliveryOf(partner, eventId);
  assert.deepEqual([delivery.status, delivery.attempt_count], ["succeeded", 1]);
}

test("an answer of the old URL does not disable an endpoint that has moved", async () => {
  const receiver = await startReceiver(authority);
  const held = Promise.withResolvers<void>();
  receiver.answerWith(async ({ path }) => {
    if (path.endsWith("/new")) return { status: 200 };
    await held.promise;
    return { status: 410 };
  });
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, `${receiver.url}/old`);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const sending = deliver();
  await arrival(receiver);
  expectData(
    await partner.api.patch(`/v1/webhooks/endpoints/${endpoint.id}`, { url: `${receiver.url}/new` }),
  );
  held.resolve();
  await sending;
  const moved = expectData(await partner.api.get(`/v1/webhooks/endpoints/${endpoint.id}`));
  assert.deepEqual([moved.enabled, moved.disabled_reason], [true, null]);
  clock.advance(6 * secondMs);
  await deliver();
  assert.equal((await deliveryOf(partner, eventId)).status, "succeeded");
});

test("a lease that ran out is given back, and the late result of its old holder is dropped", async () => {
  const receiver = await startReceiver(authority);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let first = true;
  receiver.answerWith(async () => {
    if (!first) return { status: 200 };
    first = false;
    await held;
    return { status: 500 };
  });
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  const sending = deliver();
  await arrival(receiver);
  // As if the process had died and another one had delivered: the lease is replaced.
  await core.db.run(sql`update webhook_delivery_queue set lease_number = lease_number + 1, lease_owner = ${crypto.randomUUID()}
    where ${isOf(eventId)}`);
  release();
  await sending;
  assert.deepEqual(
    [(await deliveryOf(partner, eventId)).status, (await deliveryOf(partner, eventId)).attempt_count],
    ["delivering", 0],
  );
  clock.advance(31 * secondMs);
  await deliver();
  const delivery = await deliveryOf(partner, eventId);
  assert.deepEqual([delivery.status, delivery.attempt_count], ["succeeded", 1]);
});

test("withdrawn consent scrubs what was not delivered, and returns whether something was", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => ({ status: 500 }));
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const event = sessionEvent(partner.organizationId);
  const [eventId = ""] = await publish(event);
  await deliver();
  const { id } = await deliveryOf(partner, eventId);
  receiver.answerWith(() => ({ status: 200 }));
  const { organizationId } = partner;
  const session = { id: event.session?.id ?? "", organizationId, environment: "sandbox" as const };
  const withdraw = () => core.db.transaction((tx) => scrubSessionDeliveries(tx, session, clock.now()));
  assert.equal(await withdraw(), "nothing_delivered");
  assert.equal(await payloadOf(id), null);
  const scrubbed = await deliveryOf(partner, eventId);
  assert.deepEqual([scrubbed.status, scrubbed.last_error], ["failed", "consent_withdrawn"]);
  await deliver();
  clock.advance(dayMs);
  await deliver();
  assert.equal(receiver.received.length, 1);
  await publish(event);
  await deliver();
  assert.equal(receiver.received.length, 2);
  assert.equal(await withdraw(), "delivered");
});

test("consent withdrawn while a process sent the delivery that died: it is never sent again", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
  const event = sessionEvent(partner.organizationId);
  const [eventId = ""] = await core.db.transaction(async (tx) => {
    const ids = await publishEvents(core, tx, clock.now(), [event]);
    const lease = { owner: crypto.randomUUID(), now: clock.now(), until: later(clock.now(), 30 * secondMs) };
    // In the same transaction, so that no process of this test has it first.
    await claimDue(tx as unknown as Db, { kind: "url" }, [{ endpointId: endpoint.id, most: 1 }], lease);
    return ids;
  });
  assert.equal((await deliveryOf(partner, eventId)).status, "delivering");
  const session = {
    id: event.session?.id ?? "",
    organizationId: partner.organizationId,
    environment: "sandbox" as const,
  };
  await core.db.transaction((tx) => scrubSessionDeliveries(tx, session, clock.now()));
  clock.advance(31 * secondMs);
  const { id } = await deliveryOf(partner, eventId);
  expectError(await partner.api.post(`/v1/webhooks/deliveries/${id}/retry`), 409, "WEBHOOK_PAYLOAD_EXPIRED");
  await deliver();
  const delivery = await deliveryOf(partner, eventId);
  assert.deepEqual([delivery.status, delivery.last_error], ["failed", "consent_withdrawn"]);
  assert.deepEqual(receiver.received, []);
  assert.equal(await core.db.first(sql`select 1 from webhook_delivery_queue where ${isOf(eventId)}`), null);
});

test("consent withdrawn while the delivery is on its way: no further try, and a success is still seen", async () => {
  for (const [status, expected, error] of [
    [200, "succeeded", null],
    [500, "failed", "consent_withdrawn"],
  ] as const) {
    const receiver = await startReceiver(authority);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    receiver.answerWith(async () => {
      await held;
      return { status };
    });
    const partner = await createPartner(api);
    await createReceivingEndpoint(partner.api, receiver.url);
    const event = sessionEvent(partner.organizationId);
    const [eventId = ""] = await publish(event);
    const sending = deliver();
    await arrival(receiver);
    const session = {
      id: event.session?.id ?? "",
      organizationId: partner.organizationId,
      environment: "sandbox" as const,
    };
    await core.db.transaction((tx) => scrubSessionDeliveries(tx, session, clock.now()));
    const { id } = await deliveryOf(partner, eventId);
    assert.equal(await payloadOf(id), null);
    release();
    await sending;
    await deliver();
    const ended = await deliveryOf(partner, eventId);
    assert.deepEqual([ended.status, ended.last_error], [expected, error]);
    clock.advance(dayMs);
    await deliver();
    const bodies = receiver.received.filter(({ headers }) => headers["webhook-id"] === eventId);
    assert.equal(bodies.length, 1, "the withdrawn payload is never sent again");
  }
});

test("a thousand events at once are sealed and written together, and all arrive", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const ids = await publish(...Array.from({ length: 1000 }, () => sessionEvent(partner.organizationId)));
  await deliver();
  assert.deepEqual(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])), new Set(ids));
  assert.equal(receiver.received.length, 1000);
});

test("history is removed after its time, attempts included", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  receiver.answerWith(() => ({ status: 500 }));
  const [eventId = ""] = await publish(sessionEvent(partner.organizationId));
  await deliver();
  const { id } = await deliveryOf(partner, eventId);
  assert.equal(
    (await core.db.rows(sql`select id from webhook_attempts where delivery_id = ${id}`)).length,
    1,
  );
  clock.advance(30 * dayMs);
  await runJob("purge-webhook-history");
  expectData(await partner.api.get(`/v1/webhooks/events/${eventId}`));
  clock.advance(1);
  // A delivery that is being retried now, which is due as well, is left to the next run.
  await until("the delivery is removed", async () => {
    await runJob("purge-webhook-history");
    return (await partner.api.get(`/v1/webhooks/deliveries/${id}`)).status !== 200;
  });
  expectError(await partner.api.get(`/v1/webhooks/deliveries/${id}`), 404, "NOT_FOUND");
  expectError(await partner.api.get(`/v1/webhooks/events/${eventId}`), 404, "NOT_FOUND");
  assert.deepEqual(await core.db.rows(sql`select id from webhook_attempts where delivery_id = ${id}`), []);
});

test("a delivery that is being sent outlives its time, and the metrics count it until it is removed", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  await core.db.transaction(async (tx) => {
    await publishEvents(core, tx, clock.now(), [sessionEvent(partner.organizationId)]);
    await tx.run(sql`
      update webhook_delivery_queue set lease_owner = ${crypto.randomUUID()}, lease_until = ${later(clock.now(), 40 * dayMs)}
      where endpoint_id = ${endpoint.id}`);
  });
  const purged = async () => {
    await runJob("purge-webhook-history");
    return Number(/^assay_webhook_history_backlog (\d+)$/m.exec(core.metrics.render())?.[1]);
  };
  clock.advance(31 * dayMs);
  await until("all others are removed", async () => (await purged()) === 1);
  const left = () => core.db.rows(sql`select 1 from webhook_deliveries where endpoint_id = ${endpoint.id}`);
  assert.equal((await left()).length, 1);
  await core.db.run(
    sql`update webhook_delivery_queue set lease_until = null where endpoint_id = ${endpoint.id}`,
  );
  await until("it is removed as well", async () => (await purged()) === 0);
  assert.deepEqual(await left(), []);
});
