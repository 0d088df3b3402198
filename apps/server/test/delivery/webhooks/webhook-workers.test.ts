import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import pg from "pg";
import {
  claimDue,
  deliveryChannel,
  recordAttempts,
  releaseLease,
} from "../../../src/delivery/webhooks/delivery.store.ts";
import { type NewEvent, publishEvents } from "../../../src/delivery/webhooks/publish-event.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { later, secondMs } from "../../../src/platform/kernel/clock.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { type Answer, createPartner, expectData } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { untilBlocked } from "../../support/database.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";

/** Several processes on one queue. The first only answers requests, so tests decide what is sent. */
const authority = createAuthority();
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const webhooks = { ca: authority.certificate };
const { api, clock, core, databaseUrl } = await startTestService({ role: "api", env, webhooks });
const startWorker = () => startTestService({ databaseUrl, clock, env, webhooks, role: "worker" });

async function publish(organizationId: OrganizationId, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, (): NewEvent => {
    const id = newId("vs", clock.now());
    return {
      session: {
        ...{ id, organizationId, sandbox: true },
        ...{ contractVersion: 1, clientReferenceId: null, webhookEndpointId: null },
      },
      type: "verification.session.expired",
      data: { nfc_tries_used: 0, liveness_tries_used: 0, return_code_sha256: null },
    };
  });
  return core.db.transaction((tx) => publishEvents(core, tx, clock.now(), events));
}

test("a delivery that one process is claiming is passed over by every other one, at once", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  await publish(partner.organizationId, 5);
  const now = clock.now();
  const claim = (db: Db, owner: string, most: number) =>
    claimDue(db, { kind: "url" }, [{ endpointId: endpoint.id, most }], {
      owner,
      now,
      until: later(now, 30 * secondMs),
    });
  const owners = [crypto.randomUUID(), crypto.randomUUID()] as const;
  const { first, second } = await core.db.transaction(async (tx) => {
    // A claim is one statement; inside a transaction it can be looked at before it is committed.
    const first = await claim(tx as unknown as Db, owners[0], 3);
    const second = claim(core.db, owners[1], 5);
    const ended = await Promise.race([second.then(() => "at once"), untilBlocked(tx).then(() => "waited")]);
    assert.equal(ended, "at once");
    return { first, second };
  });
  const ids = [...first, ...(await second)].map((delivery) => delivery.id);
  assert.equal(first.length, 3);
  assert.equal(ids.length, 5, "the other process gets what is left");
  assert.equal(new Set(ids).size, 5, "and nothing twice");
  await core.db.run(sql`delete from webhook_delivery_queue where endpoint_id = ${endpoint.id}`);
});

test("a lease is released by its owner and its number, and never by an earlier one", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  await publish(partner.organizationId, 1);
  const now = clock.now();
  const owner = crypto.randomUUID();
  const lease = { owner, now, until: later(now, 30 * secondMs) };
  const [claimed] = await claimDue(core.db, { kind: "url" }, [{ endpointId: endpoint.id, most: 1 }], lease);
  assert.ok(claimed);
  const release = (by: string, number: number) =>
    releaseLease(core.db, by, { ...claimed, leaseNumber: number }, now);
  assert.equal(await release(owner, claimed.leaseNumber - 1), 0);
  assert.equal(await release(crypto.randomUUID(), claimed.leaseNumber), 0);
  assert.equal(await release(owner, claimed.leaseNumber), 1);
  await core.db.run(sql`delete from webhook_delivery_queue where endpoint_id = ${endpoint.id}`);
});

test("a claim and a delivery that arrives write two rows and no index, and nothing else", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  await publish(partner.organizationId, 3);
  const now = clock.now();
  const owner = crypto.randomUUID();
  const changes = await core.db.transaction(async (tx) => {
    const lease = { owner, now, until: later(now, 30 * secondMs) };
    const claimed = await claimDue(
      tx as unknown as Db,
      { kind: "url" },
      [{ endpointId: endpoint.id, most: 5 }],
      lease,
    );
    const attempts = claimed.map((delivery) => ({
      delivery,
      attemptId: newId("wha", now),
      result: { statusCode: 200, error: null },
      exchange: null,
      durationMs: 5,
      attemptedAt: now,
      next: { status: "succeeded", nextAttemptAt: null, scrub: true, payloadExpiresAt: null } as const,
    }));
    assert.equal((await recordAttempts(tx, owner, attempts, now)).length, 3);
    return tx.rows<Record<string, unknown>>(sql`
      select relname, n_tup_upd >= 3 as changed, n_tup_upd - n_tup_hot_upd as with_index from pg_stat_xact_user_tables
      where relname in ('webhook_deliveries', 'webhook_delivery_queue') order by relname`);
  });
  assert.deepEqual(changes, [
    { relname: "webhook_deliveries", changed: true, withIndex: 0 },
    { relname: "webhook_delivery_queue", changed: true, withIndex: 0 },
  ]);
  const attempts = sql`select id from webhook_attempts where organization_id = ${partner.organizationId}`;
  assert.deepEqual(await core.db.rows(attempts), []);
});

test("what makes a delivery due wakes the workers at once with the name of its endpoint, and nothing else does", async () => {
  const partner = await createPartner(api);
  const endpoint = await createReceivingEndpoint(partner.api, "https://127.0.0.1:9/hook");
  const path = `/v1/webhooks/endpoints/${endpoint.id}`;
  const listening = new pg.Client({ connectionString: databaseUrl });
  await listening.connect();
  const heard: string[] = [];
  listening.on("notification", ({ payload = "" }) => heard.push(payload));
  await listening.query(`listen ${pg.escapeIdentifier(deliveryChannel)}`);
  const [eventId = ""] = await publish(partner.organizationId, 1);
  await until("a publication is heard", () => heard.length > 0);
  const [{ id }] = expectData<[{ id: string }]>(
    await partner.api.get("/v1/webhooks/deliveries", { event_id: eventId }),
  );
  const period = { created_from: clock.now().toISOString(), created_to: clock.now().toISOString() };
  const fail = async () => {
    await core.db.run(sql`delete from webhook_delivery_queue where delivery_id = ${id}`);
    await core.db.run(sql`update webhook_deliveries set status = 'failed', failed = true where id = ${id}`);
  };
  const enable = () => partner.api.patch(path, { enabled: true });
  // One after the other, because equal notifications of one moment are sent once.
  const hear = async (what: string, cause: () => Promise<Answer>) => {
    const before = heard.length;
    const answer = await cause();
    assert.ok(answer.status < 300, answer.text);
    await until(`${what} is heard`, () => heard.length > before);
  };
  const causes: [what: string, cause: () => Promise<Answer>][] = [
    ["a test event", () => partner.api.post(`${path}/test`)],
    ["a retry", () => partner.api.post(`/v1/webhooks/deliveries/${id}/retry`)],
    ["a replay", () => partner.api.post(`/v1/webhooks/events/${eventId}/replay`)],
    ["a retry of all that failed", () => partner.api.post(`${path}/retry-failed`, period)],
    ["enabling the endpoint", enable],
  ];
  for (const [what, cause] of causes) {
    await fail();
    expectData(await partner.api.patch(path, { name: what, enabled: false }));
    expectData(await partner.api.patch(path, { name: "Renamed" }));
    // An endpoint that is disabled gets no test event.
    if (what === "a test event") await hear("enabling it for a test event", enable);
    await hear(what, cause);
  }
  await core.db.run(sql`delete from webhook_delivery_queue where endpoint_id = ${endpoint.id}`);
  const bare = expectData(
    await partner.api.post("/v1/webhooks/endpoints", { url: "https://127.0.0.1:9/" }),
    201,
  );
  expectData(await partner.api.post(`/v1/webhooks/endpoints/${bare.endpoint.id}/test`), 202);
  await core.db.notifyNow(deliveryChannel, "the last");
  await until("the last one is heard", () => heard.at(-1) === "the last");
  await listening.end();
  const ofEndpoint = 1 + causes.length + 1;
  assert.deepEqual(heard, [...Array.from({ length: ofEndpoint }, () => endpoint.id), "the last"]);
});

test("two processes on one queue send each delivery once", async () => {
  const receiver = await startReceiver(authority);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const workers = await Promise.all([startWorker(), startWorker()]);
  const ids = await publish(partner.organizationId, 400);
  await Promise.all(workers.map((worker) => worker.runJob("deliver-webhooks")));
  const sent = receiver.received.map(({ headers }) => headers["webhook-id"]);
  assert.equal(sent.length, ids.length);
  assert.deepEqual(new Set(sent), new Set(ids));
  for (const worker of workers) await worker.service.close();
});

test("a process that ends in the middle of a send gives the delivery back at once", async () => {
  const receiver = await startReceiver(authority);
  receiver.answerWith(() => null);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);
  const worker = await startWorker();
  const [eventId = ""] = await publish(partner.organizationId, 1);
  await until("the request has arrived", () => receiver.received.length > 0);
  await worker.service.close();
  // The clock stands still: the lease of the process that ended would be good for another half a minute.
  const row = await core.db.one<Record<string, unknown>>(
    sql`select d.status, q.lease_owner, q.lease_until, q.due_at, q.tries_used
      from webhook_deliveries d join webhook_delivery_queue q on q.delivery_id = d.id where d.event_id = ${eventId}`,
  );
  assert.deepEqual(row, {
    status: "pending",
    leaseOwner: null,
    leaseUntil: null,
    dueAt: clock.now(),
    triesUsed: 0,
  });
  receiver.answerWith(() => ({ status: 200 }));
  const next = await startWorker();
  await next.runJob("deliver-webhooks");
  assert.equal(receiver.received.length, 2);
});
