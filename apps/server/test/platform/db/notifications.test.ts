import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { Listener } from "../../../src/platform/db/listener.ts";
import { createPartner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { startVerification } from "../../support/verify.ts";

/** One process answers, another sends. */
const authority = createAuthority();
const env = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const webhooks = { ca: authority.certificate, pollMs: 100 };
const { api, core, clock, databaseUrl } = await startTestService({ role: "api", env, webhooks });
const { db } = core;
const receiver = await startReceiver(authority);
const partner = await createPartner(api);
await createReceivingEndpoint(partner.api, receiver.url);

/** What this process sends to PostgreSQL, and whether its hints are lost on the way. */
const sent: string[] = [];
let isLosing = false;
const send = pg.Client.prototype.query;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [query] = args;
  const text = typeof query === "string" ? query : ((query as { text?: string }).text ?? "");
  sent.push(text);
  if (isLosing && text.includes("pg_notify")) throw new Error("a process that dies sends nothing");
  return (send as (...given: unknown[]) => unknown).apply(this, args);
} as typeof send;
after(() => {
  pg.Client.prototype.query = send;
});

async function cancelOne(): Promise<void> {
  const { id } = await startVerification(partner.api);
  sent.length = 0;
  assert.equal((await partner.api.post(`/v1/sessions/${id}/cancel`, {})).status, 204);
}

test("no transaction that writes notifies: the hint is a separate message after the commit", async () => {
  await cancelOne();
  await until("the hint is sent", () => sent.some((text) => text.includes("pg_notify")));
  const committed = sent.findIndex((text) => /commit$/.test(text));
  const notified = sent.findIndex((text) => text.includes("pg_notify"));
  assert.ok(committed >= 0 && committed < notified, sent.join("\n---\n"));
  assert.doesNotMatch(sent[notified] ?? "", /insert|update|commit;/);
});

test("an event whose hint is lost with its process is found by the workers of the others", async () => {
  isLosing = true;
  const before = receiver.received.length;
  const worker = await startTestService({ databaseUrl, clock, env, webhooks, role: "worker" });
  await until("the first event arrives", () => receiver.received.length > before);
  const waiting = receiver.received.length;
  await cancelOne();
  await until("the second event arrives", () => receiver.received.length > waiting);
  isLosing = false;
  await worker.service.close();
});

test("a rollback sends no hints, and a part of a transaction drops only its own", async () => {
  const heard: string[] = [];
  const listener = new Listener(() => databaseUrl, core.log);
  listener.on("hints", (payload) => heard.push(payload));
  await listener.start();
  const refused = new Error("refused");
  const failing = (payload: string) =>
    db.transaction(async (tx) => {
      tx.notify("hints", payload);
      throw refused;
    });
  await assert.rejects(failing("rolled back"), refused);
  await db.joinedTransaction(async (tx) => {
    tx.notify("hints", "before the part");
    await db.transaction(async (part) => part.notify("hints", "of a part that stays"));
    await assert.rejects(failing("of a part that fails"), refused);
    db.notify("hints", "joined");
    assert.deepEqual(heard, []);
  });
  await db.notifyNow("hints", "last");
  await until("the last hint is heard", () => heard.includes("last"));
  assert.deepEqual(heard, ["before the part", "of a part that stays", "joined", "last"]);
  await listener.stop();
});
