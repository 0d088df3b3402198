// The ceiling: the same RSA, AES, HMAC, POST and SQL on the same tables, as straight code. No lanes, no
// leases of other processes, no checks of addresses, one endpoint, no error handling.
import {
  constants,
  createCipheriv,
  createHmac,
  createPublicKey,
  publicEncrypt,
  randomBytes,
} from "node:crypto";
import pg from "pg";
import { Agent } from "undici";
import { packPayload, unpackPayload } from "../../apps/server/src/delivery/webhooks/stored-payload.ts";
import { newId } from "../../apps/server/src/platform/kernel/ids.ts";

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL ?? "", max: 10 });
const agent = new Agent({ allowH2: false });
const atOnce = 64;

type Job = {
  organizationId: string;
  endpointId: string;
  keyId: string;
  n: string;
  e: string;
  url: string;
  secret: string;
  events: number;
  perTransaction: number;
  data: Record<string, unknown>;
};

function createSealer(job: Job): (plaintext: string) => string {
  const key = createPublicKey({ key: { kty: "RSA", n: job.n, e: job.e }, format: "jwk" });
  const header = Buffer.from(JSON.stringify({ alg: "RSA-OAEP-256", enc: "A256GCM", kid: "bench" })).toString(
    "base64url",
  );
  return (plaintext) => {
    const contentKey = randomBytes(32);
    const nonce = randomBytes(12);
    const wrapped = publicEncrypt(
      { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" },
      contentKey,
    );
    const cipher = createCipheriv("aes-256-gcm", contentKey, nonce);
    cipher.setAAD(Buffer.from(header));
    const text = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
    return [
      header,
      ...[wrapped, nonce, text, cipher.getAuthTag()].map((part) => part.toString("base64url")),
    ].join(".");
  };
}

/** Four connections, as the service has under this load. */
function publishAll(job: Job): Promise<unknown> {
  const seal = createSealer(job);
  let toPublish = job.events;
  const publisher = async () => {
    const client = await pool.connect();
    while (toPublish > 0) {
      const size = Math.min(toPublish, job.perTransaction);
      toPublish -= size;
      const now = new Date();
      const ids = Array.from({ length: size }, () => newId("evt", now));
      await client.query("begin");
      await client.query({
        name: "targets",
        text: "select e.id, k.n from webhook_endpoints e join webhook_keys k on k.endpoint_id = e.id where e.organization_id = $1",
        values: [job.organizationId],
      });
      await client.query({
        name: "events",
        text: `insert into events (id, organization_id, type, session_id, sandbox, contract_version, created_at)
          select i, $2, 'verification.session.succeeded', $3, true, 1, $4 from unnest($1::text[]) i`,
        values: [ids, job.organizationId, newId("vs", now), now],
      });
      const payloads = ids.map((id) =>
        seal(
          JSON.stringify({
            id,
            type: "verification.session.succeeded",
            created_at: now.toISOString(),
            sandbox: true,
            metadata: {
              event_id: id,
              verification_session_id: "",
              contract_version: 1,
              client_reference_id: null,
            },
            data: job.data,
          }),
        ),
      );
      await client.query({
        name: "deliveries",
        text: `with d as (
            insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, encryption_key_id, payload,
              status, attempt_count, created_at, updated_at)
            select d, $3, true, e, 'verification.session.succeeded', $4, $5, p, 'pending', 0, $6, $6
            from unnest($1::text[], $2::text[], $7::bytea[]) as t (d, e, p) returning id)
          insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
            changed_at)
          select $3, true, id, $4, $6, 0, 0, false, $6 from d`,
        values: [
          ids.map(() => newId("whd", now)),
          ids,
          job.organizationId,
          job.endpointId,
          job.keyId,
          now,
          payloads.map(packPayload),
        ],
      });
      await client.query({ name: "notify", text: "select pg_notify('bench', $1)", values: [job.endpointId] });
      await client.query("commit");
    }
    client.release();
  };
  return Promise.all(Array.from({ length: 4 }, publisher));
}

/** Sends published events until `job.events` have arrived. */
function sendAll(job: Job): Promise<void> {
  const url = new URL(job.url);
  const standardKey = Buffer.from(job.secret.slice(6), "base64");

  let delivered = 0;
  let claiming = false;
  let inFlight = 0;
  let finished: string[] = [];
  const done = Promise.withResolvers<void>();

  const record = async () => {
    const batch = finished;
    finished = [];
    await pool.query({
      name: "record",
      text: `with written as (
          update webhook_deliveries d set status = 'succeeded', attempt_count = 1, last_status_code = 200,
            last_attempt_at = $2, arrival_ms = 1, payload = null, payload_scrubbed_at = $2, updated_at = $2
          where d.id = any($1::text[]))
        delete from webhook_delivery_queue where organization_id = $3 and delivery_id = any($1::text[])`,
      values: [batch, new Date(), job.organizationId],
    });
    delivered += batch.length;
    if (delivered === job.events) done.resolve();
  };

  const send = async (row: { id: string; event_id: string; payload: string }) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const own = createHmac("sha256", job.secret).update(`${timestamp}.${row.payload}`).digest("hex");
    const standard = createHmac("sha256", standardKey)
      .update(`${row.event_id}.${timestamp}.${row.payload}`)
      .digest("base64");
    const { body } = await agent.request({
      origin: url.origin,
      path: url.pathname,
      method: "POST",
      headers: {
        "content-type": "application/jose",
        "x-service-signature": `t=${timestamp},v1=${own}`,
        "x-service-delivery-id": row.id,
        "x-service-event": "verification.session.succeeded",
        "webhook-id": row.event_id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": `v1,${standard}`,
      },
      body: row.payload,
    });
    await body.dump();
    inFlight -= 1;
    finished.push(row.id);
    if (finished.length >= 32) void record();
    void claim();
  };

  const claim = async (): Promise<void> => {
    if (claiming || inFlight > atOnce / 2) return;
    claiming = true;
    const now = new Date();
    const { rows } = await pool.query({
      name: "claim",
      text: `with q as (
          update webhook_delivery_queue set lease_number = lease_number + 1, lease_until = $2
          where ctid = any(array(select ctid from webhook_delivery_queue where endpoint_id = $1 and lease_until is null and due_at <= $3
            order by due_at limit $4 for update skip locked)) returning delivery_id)
        select d.id, d.event_id, d.payload from q
        cross join lateral (select * from webhook_deliveries where id = q.delivery_id offset 0) d`,
      values: [job.endpointId, new Date(now.getTime() + 30_000), now, atOnce - inFlight],
    });
    claiming = false;
    inFlight += rows.length;
    for (const row of rows) void send({ ...row, payload: unpackPayload(row.payload) });
    if (rows.length === 0 && delivered + finished.length < job.events) setTimeout(() => void claim(), 2);
  };
  const flusher = setInterval(() => {
    if (finished.length > 0) void record();
  }, 5);
  void claim();
  return done.promise.finally(() => clearInterval(flusher));
}

async function run(job: Job): Promise<void> {
  const sent = sendAll(job);
  await publishAll(job);
  await sent;
}

process.on("message", async (job: Job) => {
  await run(job);
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system, rssMb: process.memoryUsage().rss / 1e6 });
});
process.send?.({ ready: true });
