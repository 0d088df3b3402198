import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import test, { after } from "node:test";
import type { EndpointId, OrganizationId } from "@assay/contract/ids";
import pg from "pg";
import { deliveryChannel } from "../../../src/delivery/webhooks/delivery.store.ts";
import { publishEvents } from "../../../src/delivery/webhooks/publish-event.ts";
import type { Tx } from "../../../src/platform/db/db.ts";
import { retryQuarantinedRows } from "../../../src/platform/db/quarantine.store.ts";
import { firstRetryMs, lastRetryMs } from "../../../src/platform/db/quarantine.ts";
import { Sql, sql } from "../../../src/platform/db/sql.ts";
import { dayMs, hourMs, later, minuteMs, secondMs } from "../../../src/platform/kernel/clock.ts";
import { newId, newUuid } from "../../../src/platform/kernel/ids.ts";
import { resealAll } from "../../../src/platform/key-ring/sealed-columns.store.ts";
import { KeyRing, newRingKey } from "../../../src/platform/lib/key-ring.ts";
import { withoutSessionIds } from "../../../src/platform/lib/log.ts";
import { insertMail } from "../../../src/platform/mails/mail.store.ts";
import { insertMailRequest } from "../../../src/tenants/accounts/mailed-token.store.ts";
import { awaitCleanFiles } from "../../../src/tenants/organizations/complete-deletion.ts";
import { createKey, createPartner } from "../../support/api.ts";
import { createAuthority } from "../../support/certificate.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { assay, assayHere } from "../../support/process.ts";
import { createReceivingEndpoint, startReceiver } from "../../support/receiver.ts";
import { startTestService } from "../../support/service.ts";
import { testRing } from "../../support/test-ring.ts";
import { until } from "../../support/until.ts";

const authority = createAuthority();
const sourceAddresses = (of: string) => [0, 1, 2, 3, 4].map((at) => `https://127.0.0.1:1/${of}-${at}`);
const dns = await startDnsServer();
const env = {
  METRICS_TOKEN: "let me see",
  DNS_RESOLVERS: dns.address,
  WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1",
  // Nothing listens there: a source counts as processed when that is recorded.
  TRUST_SOURCES: [...sourceAddresses("claimed"), ...sourceAddresses("written")].join(","),
};
const service = await startTestService({ env, webhooks: { ca: authority.certificate } });
const { api, clock, core, logLines, runJob } = service;
const { db, ring } = core;
const partner = await createPartner(api);
const receiver = await startReceiver(authority);
const endpoint = await createReceivingEndpoint(partner.api, receiver.url);
const { organizationId } = partner;
const userId = partner.owner.userId;
// A separate connection changes the tables: creating a trigger waits for running jobs.
const admin = new pg.Client({ connectionString: service.databaseUrl });
await admin.connect();
after(() => admin.end());

/** Occurs in what PostgreSQL or a parser says about the bad row. It must not be stored or shown. */
const canary = "canary@example.com";
await admin.query(
  `create function refuse_row() returns trigger language plpgsql as
   $$ begin raise exception 'the row of ${canary} is refused' using errcode = 'check_violation'; end $$`,
);

type Repair = () => Promise<unknown>;
type Poison = {
  what: string;
  /** The table under which the row is quarantined. */
  kind: string;
  /** Makes rows that are due, in the order in which the job takes them, and names them as the job does. */
  plant: (tx: Tx) => Promise<string[]>;
  /** Makes the job fail on one of them, before a job sees it. */
  spoil: (tx: Tx, id: string) => Promise<Repair>;
  isDone: (id: string) => Promise<boolean>;
  reason?: RegExp;
};

const raw = (text: string) => new Sql([text], []);

/** The key as a job names it. Bytes have no dash and no underscore in their name. */
const named = (key: string, id: string) => (/[-_]/.test(id) ? `${key}::text` : `encode(${key}, 'hex')`);

/** A trigger that refuses whatever is done to one row. */
function refusing(
  table: string,
  key = "id",
  when = "before update or delete",
  condition = "",
): (tx: Tx, id: string) => Promise<Repair> {
  return async (tx, id) => {
    const same = `${named(`old.${key}`, id)} = '${id}'`;
    await tx.run(
      raw(
        `create trigger poison ${when} on ${table} for each row when (${same} ${condition}) execute function refuse_row()`,
      ),
    );
    return () => admin.query(`drop trigger poison on ${table}`);
  };
}

function gone(table: string, key = "id"): (id: string) => Promise<boolean> {
  return async (id) =>
    (await db.first(sql`select 1 from ${raw(table)} where ${raw(named(key, id))} = ${id}`)) === null;
}

async function five<T>(make: (at: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let at = 0; at < 5; at++) made.push(await make(at));
  return made;
}

/** Rows of one table that a job only deletes. */
function purged(kind: string, insert: (tx: Tx, at: number) => Promise<string>, key = "id"): Poison {
  return {
    what: `a row of ${kind} that cannot be deleted`,
    kind,
    plant: (tx) => five((at) => insert(tx, at)),
    spoil: refusing(kind, key, "before delete"),
    isDone: gone(kind, key),
  };
}

const ago = (ms: number) => later(clock.now(), -ms);

async function insertKeyed(tx: Tx, statement: (key: Buffer) => Sql): Promise<string> {
  const key = randomBytes(32);
  await tx.run(statement(key));
  return key.toString("hex");
}

async function insertIdentified(tx: Tx, at: Date, statement: (id: string) => Sql): Promise<string> {
  const id = newUuid(at);
  await tx.run(statement(id));
  return id;
}

async function insertSession(tx: Tx, created: Date, completed: Date | null): Promise<string> {
  const id = newId("vs", created);
  await tx.run(sql`
    insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox,
      cancel_token_hash, expires_at, completed_at, created_at, updated_at)
    values (${id}, ${organizationId}, ${completed === null ? "created" : "expired"}, 1, '{}', '{}', true, '',
      ${later(created, hourMs)}, ${completed}, ${created}, ${created})`);
  return id;
}

function sealedMail(
  id: string,
  text = JSON.stringify({ to: canary, subject: "x", paragraphs: ["x"] }),
): Buffer {
  return ring.seal("mail", text, id);
}

async function plantMails(tx: Tx): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const now = ago((5 - i) * secondMs);
    const id = newUuid(now);
    await insertMail(tx, { id, organizationId, content: sealedMail(id), now });
    ids.push(id);
  }
  return ids;
}

/** Puts something else in place of a sealed value, and puts the value back. */
function replacing(
  table: string,
  column: string,
  bad: (id: string) => Buffer,
  key = "id",
): (tx: Tx, id: string) => Promise<Repair> {
  return async (tx, id) => {
    const { good } = await tx.one<{ good: Buffer }>(
      sql`select ${raw(column)} as good from ${raw(table)} where ${raw(key)} = ${id}`,
    );
    await tx.run(sql`update ${raw(table)} set ${raw(column)} = ${bad(id)} where ${raw(key)} = ${id}`);
    return () => db.run(sql`update ${raw(table)} set ${raw(column)} = ${good} where ${raw(key)} = ${id}`);
  };
}

const wasMailed = async (id: string) =>
  service.dataDirs.some((folder) => existsSync(join(folder, "mail", `${id}.eml`))) &&
  (await gone("mails")(id));

async function plantMailRequests(tx: Tx): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const now = ago((5 - i) * secondMs);
    const id = newUuid(now);
    const email = ring.seal("mail", partner.owner.email, id);
    await insertMailRequest(tx, { id, purpose: "magic_link", email, now });
    ids.push(id);
  }
  return ids;
}

async function publishTo(tx: Tx, endpoints: readonly EndpointId[]): Promise<string[]> {
  for (const webhookEndpointId of endpoints) {
    const id = newId("vs", clock.now());
    await publishEvents(core, tx, clock.now(), [
      {
        session: {
          id,
          organizationId,
          sandbox: true,
          contractVersion: 1,
          clientReferenceId: null,
          webhookEndpointId,
        },
        type: "verification.session.cancelled",
        data: {
          outcome: "not_verified",
          reason: "cancelled_by_partner",
          nfc_tries_used: 0,
          liveness_tries_used: 0,
        },
      } as never,
    ]);
  }
  const rows = await tx.rows<{ id: string; endpointId: string }>(sql`
    select id, endpoint_id from webhook_deliveries
    where status = 'pending' and organization_id = ${organizationId}`);
  // In the order of the endpoints.
  return endpoints.map((wanted) => {
    const at = rows.findIndex((row) => row.endpointId === wanted);
    return rows.splice(at, 1)[0]?.id ?? "";
  });
}

const plantDeliveries = (tx: Tx) =>
  publishTo(
    tx,
    [1, 2, 3, 4, 5].map(() => endpoint.id),
  );

async function arrived(id: string): Promise<boolean> {
  const row = await db.one<{ status: string }>(sql`select status from webhook_deliveries where id = ${id}`);
  return (
    row.status === "succeeded" &&
    receiver.received.some((request) => request.headers["x-service-delivery-id"] === id)
  );
}

/** A delivery in its state long after, or after the process that sent it died. */
async function insertDelivery(
  tx: Tx,
  at: Date,
  state: { status: string; endpointId?: string; leaseUntil?: Date; payloadExpiresAt?: Date },
): Promise<string> {
  const id = newId("whd", at);
  const { status, endpointId = endpoint.id, leaseUntil = null, payloadExpiresAt = null } = state;
  await tx.run(sql`
    insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, failed, payload, attempt_count,
      payload_expires_at, scrub_at, created_at, updated_at)
    values (${id}, ${organizationId}, true, 'evt_x', 'verification.session.cancelled', ${endpointId}, ${status},
      ${status === "failed"}, 'sealed', 0, ${payloadExpiresAt}, ${payloadExpiresAt}, ${at}, ${at})`);
  if (status === "pending")
    await tx.run(sql`
      insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, lease_owner,
        lease_until, scrubbed, changed_at)
      values (${organizationId}, true, ${id}, ${endpointId}, ${at}, 0, 1, ${leaseUntil === null ? null : randomUUID()}, ${leaseUntil},
        false, ${at})`);
  return id;
}

const deliveryPoison = (what: string, over: Partial<Poison>): Poison => ({
  what,
  kind: "webhook_deliveries",
  plant: plantDeliveries,
  spoil: refusing("webhook_deliveries"),
  isDone: arrived,
  ...over,
});

const domainId = (at: number) => `domain-${at}-${randomUUID()}.example`;

/** Every job with the rows that would stop it. */
const poisons: Record<string, Poison[]> = {
  "send-mails": [
    {
      what: "a mail whose row cannot be claimed",
      kind: "mails",
      plant: plantMails,
      spoil: refusing("mails", "id", "before update"),
      isDone: wasMailed,
    },
    {
      what: "a mail that cannot be taken off the queue",
      kind: "mails",
      plant: plantMails,
      spoil: refusing("mails", "id", "before delete"),
      isDone: wasMailed,
    },
    {
      what: "a mail that does not open",
      kind: "mails",
      plant: plantMails,
      spoil: replacing("mails", "content", () => sealedMail(randomUUID())),
      isDone: wasMailed,
      reason: /^Error, at (?:key-ring|aes-gcm)\.ts:\d+$|^ERR_|^[A-Z][A-Za-z]*Error, at/,
    },
    {
      what: "a mail that is no JSON",
      kind: "mails",
      plant: plantMails,
      spoil: replacing("mails", "content", (id) => sealedMail(id, `{ "to": ${canary}`)),
      isDone: wasMailed,
      reason: /^SyntaxError, at send-mails\.job\.ts:\d+$/,
    },
    {
      what: "a mail without paragraphs",
      kind: "mails",
      plant: plantMails,
      spoil: replacing("mails", "content", (id) => sealedMail(id, JSON.stringify({ to: canary }))),
      isDone: wasMailed,
      reason: /^TypeError, at mail\.ts:\d+$/,
    },
  ],
  "answer-mail-requests": [
    {
      what: "a request that does not open",
      kind: "mail_requests",
      plant: plantMailRequests,
      spoil: replacing("mail_requests", "email", () => ring.seal("mail", canary, randomUUID())),
      isDone: gone("mail_requests"),
      reason: /./,
    },
    {
      what: "a request that cannot be deleted",
      kind: "mail_requests",
      plant: plantMailRequests,
      spoil: refusing("mail_requests"),
      isDone: gone("mail_requests"),
    },
  ],
  "fold-emails": [
    {
      what: "an account whose address cannot be written",
      kind: "users",
      plant: (tx) =>
        five(() =>
          insertIdentified(
            tx,
            clock.now(),
            (id) => sql`
              insert into users (id, name, email, created_at, updated_at)
              values (${id}, 'x', ${`${id}@example.com`}, ${clock.now()}, ${clock.now()})`,
          ),
        ),
      spoil: refusing("users", "id", "before update"),
      isDone: async (id) =>
        (await db.first(sql`select 1 from users where id = ${id} and email_folded is not null`)) !== null,
    },
  ],
  "fold-invitations": [
    {
      what: "an invitation whose address cannot be written",
      kind: "invitations",
      plant: (tx) =>
        five(() =>
          insertIdentified(
            tx,
            clock.now(),
            (id) => sql`
              insert into invitations (id, organization_id, email, role, token_hash, expires_at, created_at)
              values (${id}, ${organizationId}, ${`${id}@example.com`}, 'member', ${randomBytes(32)},
                ${later(clock.now(), 7 * dayMs)}, ${clock.now()})`,
          ),
        ),
      spoil: refusing("invitations", "id", "before update"),
      isDone: async (id) =>
        (await db.first(sql`select 1 from invitations where id = ${id} and email_folded is not null`)) !==
        null,
    },
  ],
  "purge-account-leftovers": [
    purged("mailed_tokens", (tx) =>
      insertIdentified(
        tx,
        clock.now(),
        (id) => sql`
          insert into mailed_tokens (id, user_id, purpose, email, token_hash, created_at, expires_at)
          values (${id}, ${userId}, 'magic_link', 'x', ${randomBytes(32)}, ${ago(dayMs)}, ${ago(hourMs)})`,
      ),
    ),
    purged(
      "passkey_challenges",
      (tx) =>
        insertKeyed(
          tx,
          (key) =>
            sql`insert into passkey_challenges (challenge_hash, expires_at) values (${key}, ${ago(hourMs)})`,
        ),
      "challenge_hash",
    ),
    purged(
      "guess_limits",
      (tx) =>
        insertKeyed(
          tx,
          (key) => sql`
            insert into guess_limits (key, level, updated_at, expires_at) values (${key}, 1, ${ago(dayMs)}, ${ago(hourMs)})`,
        ),
      "key",
    ),
    purged(
      "familiar_addresses",
      (tx) =>
        insertKeyed(
          tx,
          (key) => sql`insert into familiar_addresses (key, expires_at) values (${key}, ${ago(hourMs)})`,
        ),
      "key",
    ),
  ],
  "expire-sessions": [
    {
      what: "a session that cannot be changed",
      kind: "sessions",
      plant: (tx) => five(() => insertSession(tx, ago(2 * hourMs), null)),
      spoil: refusing("sessions", "id", "before update"),
      isDone: async (id) =>
        (await db.first(
          sql`select 1 from events where session_id = ${id} and type = 'verification.session.expired'`,
        )) !== null,
    },
  ],
  "count-outcomes": [
    {
      ...purged("session_outcomes", (tx) =>
        insertIdentified(
          tx,
          clock.now(),
          (id) => sql`
            insert into session_outcomes (organization_id, id, sandbox, day, status, stage, by)
            values (${organizationId}, ${id}, true, ${clock.now()}, 'cancelled', 'created', 1)`,
        ),
      ),
      kind: "session_outcomes",
    },
  ],
  "purge-sessions": [
    {
      ...purged("sessions", (tx) => insertSession(tx, ago(500 * dayMs), ago(499 * dayMs))),
      kind: "sessions",
    },
  ],
  "minimise-attempts": [
    {
      what: "an attempt that cannot be changed",
      kind: "attempts",
      plant: (tx) =>
        five(async () => {
          const id = newId("va", ago(500 * dayMs));
          await tx.run(sql`
              insert into attempts (id, session_id, organization_id, sandbox, status, session_expires_at, completed_at, created_at, updated_at)
              values (${id}, ${newId("vs", clock.now())}, ${organizationId}, true, 'failed', ${ago(499 * dayMs)}, ${ago(499 * dayMs)},
                ${ago(500 * dayMs)}, ${ago(500 * dayMs)})`);
          return id;
        }),
      spoil: refusing("attempts"),
      isDone: async (id) =>
        (await db.first(sql`select 1 from attempts where id = ${id} and minimised_at is not null`)) !== null,
    },
  ],
  "purge-audit-logs": [
    purged("audit_logs", (tx) =>
      insertIdentified(
        tx,
        ago(5000 * dayMs),
        (id) => sql`
          insert into audit_logs (id, organization_id, event, actor_kind, created_at)
          values (${id}, ${organizationId}, 'session.expired', 'system', ${ago(5000 * dayMs)})`,
      ),
    ),
  ],
  "purge-api-requests": [
    purged("api_requests", (tx) =>
      insertIdentified(
        tx,
        ago(5000 * dayMs),
        (id) => sql`
          insert into api_requests (id, organization_id, api_key_id, created_at, duration_ms, requests, status, sandbox, replayed,
            method, request_id, path)
          values (${id}, ${organizationId}, ${organizationId}, ${ago(5000 * dayMs)}, 0, 1, 200, true, false, 'GET', 'x', '/')`,
      ),
    ),
  ],
  "purge-idempotent-answers": [
    purged("idempotent_answers", (tx) =>
      insertKeyed(
        tx,
        (key) =>
          sql`insert into idempotent_answers (id, status, expires_at) values (${key}, 0, ${ago(hourMs)})`,
      ),
    ),
  ],
  "delete-organizations": [
    ...[
      ["an organization that cannot be deleted", "before delete"],
      ["an organization that cannot be marked", "before update"],
    ].map(
      ([what = "", when]): Poison => ({
        what,
        kind: "organizations",
        plant: (tx) =>
          five((at) =>
            insertIdentified(
              tx,
              clock.now(),
              (id) => sql`
              insert into organizations (id, name, slug, pending_deletion_at, created_at, updated_at)
              values (${id}, 'x', ${randomUUID()}, ${ago((5 - at) * minuteMs)}, ${ago(dayMs)}, ${ago(dayMs)})`,
            ),
          ),
        spoil: refusing("organizations", "id", when),
        isDone: async (id) =>
          (await db.first(sql`select 1 from deleted_organizations where organization_id = ${id}`)) !== null,
      }),
    ),
    {
      what: "a receipt that does not open",
      kind: "deletion_receipts",
      plant: (tx) =>
        five(async () => {
          const id = newUuid(clock.now()) as OrganizationId;
          const receipt = { name: "x", scheduledFor: clock.now().toISOString(), owners: [] };
          await awaitCleanFiles(core, tx, id, receipt, clock.now());
          return id;
        }),
      spoil: replacing(
        "deletion_receipts",
        "content",
        () => ring.seal("deletion-receipt", canary, randomUUID()),
        "organization_id",
      ),
      isDone: gone("deletion_receipts", "organization_id"),
      reason: /./,
    },
  ],
  "recheck-domains": [
    ["a domain that cannot be claimed", ""],
    ["a domain whose check cannot be written down", "and old.miss_count <> new.miss_count"],
  ].map(([what = "", condition]) => ({
    what,
    kind: "verified_domains",
    plant: (tx) =>
      five((at) =>
        insertIdentified(
          tx,
          clock.now(),
          (id) => sql`
              insert into verified_domains (id, organization_id, apex_domain, token_hash, verified_at, next_check_at)
              values (${id}, ${organizationId}, ${domainId(at)}, ${randomBytes(32)}, ${ago(dayMs)}, ${ago(hourMs)})`,
        ),
      ),
    spoil: refusing("verified_domains", "id", "before update", condition),
    isDone: async (id) =>
      (await db.first(
        sql`select 1 from verified_domains where id = ${id} and last_checked_at is not null`,
      )) !== null,
  })),
  "purge-domain-challenges": [
    purged("domain_challenges", (tx, at) =>
      insertIdentified(
        tx,
        clock.now(),
        (id) => sql`
          insert into domain_challenges (id, organization_id, apex_domain, token_hash, expires_at, created_at)
          values (${id}, ${organizationId}, ${domainId(at)}, ${randomBytes(32)}, ${ago(40 * dayMs)}, ${ago(41 * dayMs)})`,
      ),
    ),
  ],
  "purge-invitations": [
    purged("invitations", (tx) =>
      insertIdentified(
        tx,
        clock.now(),
        (id) => sql`
          insert into invitations (id, organization_id, email, role, token_hash, expires_at, created_at)
          values (${id}, ${organizationId}, ${id}, 'member', ${randomBytes(32)}, ${ago(dayMs)}, ${ago(2 * dayMs)})`,
      ),
    ),
  ],
  "purge-wallet-requests": [
    purged(
      "wallet_requests",
      (tx) =>
        insertKeyed(
          tx,
          (key) => sql`
            insert into wallet_requests (id_hash, session_id, organization_id, sandbox, attempt_id, channel, query, nonce, browser_hash,
              binding, state, made_at, expires_at)
            values (${key}, '', ${organizationId}, true, '', 'redirect', '[]', '', '', 'platform', 'made', ${ago(dayMs)}, ${ago(dayMs)})`,
        ),
      "id_hash",
    ),
  ],
  "purge-user-sessions": [
    purged("user_sessions", (tx) =>
      insertIdentified(
        tx,
        clock.now(),
        (id) => sql`
          insert into user_sessions (id, user_id, token_hash, user_agent, created_at, last_seen_at, expires_at)
          values (${id}, ${userId}, ${randomBytes(32)}, 'x', ${ago(2 * dayMs)}, ${ago(2 * dayMs)}, ${ago(dayMs)})`,
      ),
    ),
  ],
  "purge-status-lists": [
    purged(
      "status_lists",
      (tx) =>
        insertKeyed(
          tx,
          (hash) => sql`
            insert into status_lists (uri_hash, uri, purpose, body, issued_at, fetched_at)
            values (${hash}, 'https://issuer.example/1', 'pid', ${hash}, ${ago(40 * dayMs)}, ${ago(31 * dayMs)})`,
        ),
      "uri_hash",
    ),
  ],
  "purge-wallet-identities": [
    purged("wallet_identities", (tx) =>
      insertIdentified(
        tx,
        clock.now(),
        (id) => sql`
          insert into wallet_identities (id, organization_id, environment, private_key_sealed, made_at, retired_at)
          values (${id}, ${organizationId}, 'live', ${service.core.ring.seal("wallet-identity", "x", id)}, ${ago(3 * dayMs)},
            ${ago(2 * dayMs)})`,
      ),
    ),
  ],
  "scrub-webhook-payloads": [
    deliveryPoison("a payload that cannot be scrubbed", {
      plant: (tx) =>
        five(() => insertDelivery(tx, ago(dayMs), { status: "failed", payloadExpiresAt: ago(hourMs) })),
      isDone: async (id) =>
        (await db.first(sql`select 1 from webhook_deliveries where id = ${id} and payload is null`)) !== null,
    }),
  ],
  "purge-webhook-history": [
    purged("webhook_deliveries", (tx) => insertDelivery(tx, ago(500 * dayMs), { status: "failed" })),
    purged("events", async (tx) => {
      const id = newId("evt", ago(500 * dayMs));
      await tx.run(sql`
        insert into events (id, organization_id, type, sandbox, created_at)
        values (${id}, ${organizationId}, 'webhook.endpoint.test', true, ${ago(500 * dayMs)})`);
      return id;
    }),
  ],
  "deliver-webhooks": [
    deliveryPoison("a delivery that cannot be claimed", {
      spoil: refusing("webhook_delivery_queue", "delivery_id"),
    }),
    deliveryPoison("a delivery whose result cannot be written down", {
      spoil: refusing("webhook_deliveries", "id", "before update", "and new.status = 'succeeded'"),
    }),
    deliveryPoison("a delivery that a process sent which died, and that cannot be claimed again", {
      plant: (tx) =>
        five(() => insertDelivery(tx, ago(hourMs), { status: "pending", leaseUntil: ago(minuteMs) })),
      spoil: refusing("webhook_delivery_queue", "delivery_id"),
    }),
    deliveryPoison("a delivery of an endpoint that is gone and cannot be ended", {
      plant: (tx) =>
        five(() => insertDelivery(tx, ago(minuteMs), { status: "pending", endpointId: "whe_gone" })),
      isDone: async (id) =>
        (await db.first(sql`select 1 from webhook_deliveries where id = ${id} and status = 'failed'`)) !==
        null,
    }),
    deliveryPoison("a signing secret that does not open", {
      plant: (tx) => publishTo(tx, [endpoint.id, endpoint.id, lame.id, endpoint.id, endpoint.id]),
      spoil: async (tx) =>
        replacing("webhook_endpoints", "signing_secret", () =>
          ring.seal("webhook-secret", canary, randomUUID()),
        )(tx, lame.id),
      reason: /./,
    }),
  ],
  "remove-absent-listeners": [
    {
      what: "a listener that cannot be removed",
      kind: "webhook_endpoints",
      plant: (tx) =>
        five(async () => {
          const id = newId("whe", clock.now());
          await tx.run(sql`
            insert into webhook_endpoints (id, organization_id, sandbox, kind, url, enabled, undelivered_payload_retention_hours,
              signing_secret, listener_seen_at, created_at, updated_at)
            values (${id}, ${organizationId}, true, 'listener', 'listener:x', true, 72, ${ring.seal("webhook-secret", "x", id)},
              ${ago(dayMs)}, ${ago(dayMs)}, ${ago(dayMs)})`);
          return id;
        }),
      spoil: refusing("webhook_endpoints", "id", "before delete"),
      isDone: gone("webhook_endpoints"),
    },
  ],
  "refresh-trust": [
    ...[
      ["claimed", ""],
      ["written", "and old.failures <> new.failures"],
    ].map(
      ([of = "", condition]): Poison => ({
        what: `a source that cannot be ${of}`,
        kind: "trust_sources",
        plant: async (tx) => {
          const ids = sourceAddresses(of);
          await tx.run(sql`delete from trust_sources where address = any(${ids}::text[])`);
          for (const [at, id] of ids.entries())
            await tx.run(
              sql`insert into trust_sources (address, due_at) values (${id}, ${ago((5 - at) * minuteMs)})`,
            );
          return ids;
        },
        spoil: refusing("trust_sources", "address", "before update", condition),
        isDone: async (id) =>
          (await db.first(
            sql`select 1 from trust_sources where address = ${id} and checked_at is not null`,
          )) !== null,
      }),
    ),
    {
      what: "an edition that cannot be removed",
      kind: "trust_imports",
      plant: (tx) =>
        five(async (at) => {
          const sha256 = randomBytes(32).toString("hex");
          await tx.run(sql`
            insert into trust_imports (sha256, part, type, label, imported_at, brought_by, source, retire_at)
            values (${sha256}, 0, 'der', 'x', ${ago(dayMs)}, 'source', 'x', ${ago((5 - at) * minuteMs)})`);
          return `${sha256}-0`;
        }),
      spoil: refusing("trust_imports", "sha256 || '-' || old.part", "before update"),
      isDone: async (id) =>
        (await db.first(sql`
          select 1 from trust_imports where sha256 || '-' || part = ${id} and retired_at is not null`)) !==
        null,
    },
  ],
  "flush-key-usage": [
    {
      what: "an API key whose row cannot be written",
      kind: "api_keys",
      plant: async () => keys.map((key) => key.id),
      spoil: refusing("api_keys"),
      isDone: async (id) =>
        (await db.first(sql`select 1 from api_keys where id = ${id} and request_count > 0`)) !== null,
    },
  ],
};

/**
 * Jobs that process no rows. `drop-division-checks` drops constraints, `remove-mail-files` reads a folder and
 * `report-process` reports itself. `show-trust` skips and names what it cannot read
 * (`trust-sources.test.ts`). The others count.
 */
const withoutRows = [
  "drop-division-checks",
  "measure-backlog",
  "measure-queues",
  "remove-mail-files",
  "report-process",
  "show-trust",
  "show-wallet",
];

const lame = await createReceivingEndpoint(partner.api, receiver.url);
const held = await createReceivingEndpoint(partner.api, receiver.url);
const keys = await five(() => createKey(partner.owner));

test("every job of the service has its bad row in this file", () => {
  assert.deepEqual([...Object.keys(poisons), ...withoutRows].sort(), [...service.jobs].sort());
});

type Aside = { job: string; kind: string; reason: string; tries: number; organizationId: string | null };

function asideOf(id: string): Promise<Aside[]> {
  return db.rows<Aside>(
    sql`select job, kind, reason, tries, organization_id from set_aside_rows where row_id = ${id}`,
  );
}

async function metric(name: string, job: string): Promise<number> {
  await runJob("measure-queues");
  const shown = service.machines.map(({ core: { metrics } }) =>
    Number(new RegExp(`^${name}\\{job="${job}"\\} (\\d+)$`, "m").exec(metrics.render())?.[1] ?? 0),
  );
  // What happened is counted where it happened; what is so is shown by every machine.
  return name.endsWith("_total") ? shown.reduce((sum, count) => sum + count, 0) : Math.max(...shown);
}

const linesOf = (id: string, what = "was quarantined") =>
  logLines.filter((line) => line.includes(what) && line.includes(withoutSessionIds(id)));

/** What is quarantined of these tables names its organization. */
const ownedKinds = ["events", "webhook_deliveries", "webhook_endpoints"];

/** Nothing else may interfere with the rows that a test plants. */
async function plant(poison: Poison): Promise<{ ids: string[]; bad: string; repair: Repair }> {
  return db.transaction(async (tx) => {
    const ids = await poison.plant(tx);
    const bad = ids[2];
    assert.ok(bad !== undefined && ids.length === 5);
    return { ids, bad, repair: await poison.spoil(tx, bad) };
  });
}

async function doneOf(poison: Poison, ids: readonly string[]): Promise<boolean[]> {
  return Promise.all(ids.map((id) => poison.isDone(id)));
}

/** One run is enough, unless the scheduler or the delivery worker holds the same rows: a run skips those. */
async function runUntil(job: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await until(`${job} has done it`, async () => {
    await runJob(job);
    return holds();
  });
}

for (const [job, ofJob] of Object.entries(poisons)) {
  for (const poison of ofJob) {
    test(`${job}: ${poison.what} is set aside, the others are dealt with, and it as well once it is repaired`, async () => {
      const before = await metric("assay_job_rows_set_aside_total", job);
      const { ids, bad, repair } = await plant(poison);
      try {
        if (job === "flush-key-usage") for (const key of keys) await key.api.get("/v1/sessions");
        await runUntil(job, async () => (await asideOf(bad)).length > 0);
        await runUntil(job, async () => (await doneOf(poison, ids)).filter((done) => done).length === 4);
        // Reported after the row is in the table.
        await runUntil(job, () => linesOf(bad).length > 0);
        assert.deepEqual(await doneOf(poison, ids), [true, true, false, true, true]);
        const [aside, ...more] = await asideOf(bad);
        assert.ok(aside !== undefined && more.length === 0);
        assert.deepEqual([aside.job, aside.kind, aside.tries], [job, poison.kind, 1]);
        assert.match(aside.reason, poison.reason ?? /^23514/);
        if (ownedKinds.includes(poison.kind)) assert.equal(aside.organizationId, organizationId);
        assert.equal(await metric("assay_job_rows_set_aside_total", job), before + 1);
        assert.equal(await metric("assay_job_rows_set_aside", job), 1);
        assert.equal(linesOf(bad).length, 1);
        assert.equal((await api.get("/readyz")).status, 200);

        // It fails again without a second report, and the next time is later.
        clock.advance(firstRetryMs);
        await runUntil(job, async () => (await asideOf(bad))[0]?.tries === 2);
        assert.equal((await asideOf(bad))[0]?.tries, 2);
        clock.advance(firstRetryMs);
        await runJob(job);
        assert.equal((await asideOf(bad))[0]?.tries, 2);
        assert.equal(linesOf(bad).length, 1);
      } finally {
        await repair();
      }
      await retryQuarantinedRows(db, job, clock.now());
      await runUntil(job, async () => (await asideOf(bad)).length === 0);
      await runUntil(job, () => linesOf(bad, "a quarantined row was processed").length > 0);
      assert.equal(linesOf(bad, "a quarantined row was processed").length, 1);
      assert.deepEqual(await doneOf(poison, ids), [true, true, true, true, true]);
      assert.deepEqual(await asideOf(bad), []);
      assert.equal(await metric("assay_job_rows_set_aside", job), 0);
      assert.ok(!logLines.some((line) => line.includes(canary)), "nothing of the row is in the log");
    });
  }
}

test("the time to the next try doubles up to a day", async () => {
  const poison = poisons["purge-invitations"]?.[0];
  assert.ok(poison);
  const { bad, repair } = await plant(poison);
  await runJob("purge-invitations");
  const waits: number[] = [];
  for (let i = 0; i < 10; i++) {
    const { wait } = await db.one<{ wait: number }>(sql`
      select extract(epoch from retry_at - last_at)::float8 * 1000 as wait from set_aside_rows where row_id = ${bad}`);
    waits.push(wait);
    clock.advance(wait - 1);
    await runJob("purge-invitations");
    assert.equal((await asideOf(bad))[0]?.tries, i + 1, "not before its time");
    clock.advance(1);
    await runJob("purge-invitations");
  }
  assert.deepEqual(
    waits,
    [1, 2, 4, 8, 16, 32, 64, 128, 144, 144].map((times) => times * firstRetryMs),
  );
  assert.equal(waits.at(-1), lastRetryMs);
  await repair();
  clock.advance(lastRetryMs);
  await runJob("purge-invitations");
  assert.deepEqual(await asideOf(bad), []);
});

async function sixty(tx: Tx): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 60; i++) ids.push(await insertSession(tx, ago(2 * hourMs), null));
  return ids;
}

test("two processes set a row aside once between them, and each of the others is dealt with once", async () => {
  const second = await startTestService({ env, databaseUrl: service.databaseUrl, clock });
  const poison = poisons["expire-sessions"]?.[0];
  assert.ok(poison);
  const planted = await db.transaction(async (tx) => {
    const ids = await sixty(tx);
    const bad = ids[20] ?? "";
    return { ids, bad, repair: await poison.spoil(tx, bad) };
  });
  const told = () =>
    db.rows<{ sessionId: string }>(sql`
      select session_id from events where session_id = any(${planted.ids}::text[]) order by session_id`);
  await Promise.all([service, second, service, second].map((each) => each.runJob("expire-sessions")));
  // The scheduler may have begun another run when those of this test were over.
  await runUntil("expire-sessions", async () => (await told()).length >= planted.ids.length - 1);
  assert.deepEqual(
    (await told()).map((row) => row.sessionId),
    planted.ids.filter((id) => id !== planted.bad).sort(),
  );
  assert.equal((await asideOf(planted.bad)).length, 1);
  await planted.repair();
  clock.advance(lastRetryMs);
  await Promise.all([service, second].map((each) => each.runJob("expire-sessions")));
  await runUntil("expire-sessions", async () => (await asideOf(planted.bad)).length === 0);
  assert.equal(await poison.isDone(planted.bad), true);
  assert.deepEqual(await asideOf(planted.bad), []);
});

test("what is wrong with the database and not with a row sets nothing aside", async () => {
  const poison = poisons["purge-user-sessions"]?.[0];
  assert.ok(poison);
  // Of each kind one: serialization, no room, too long, no lock, shut down, read-only.
  for (const state of ["40001", "53100", "57014", "55P03", "57P01", "25006"]) {
    await admin.query(
      `create function fail_now() returns trigger language plpgsql as $$ begin raise exception 'x' using errcode = '${state}'; end $$`,
    );
    const ids: string[] = await db.transaction(async (tx) => {
      await tx.run(
        raw("create trigger fail before delete on user_sessions for each row execute function fail_now()"),
      );
      return poison.plant(tx);
    });
    await assert.rejects(runJob("purge-user-sessions"), { code: state });
    assert.deepEqual(await db.rows(sql`select 1 from set_aside_rows where job = 'purge-user-sessions'`), []);
    await admin.query("drop trigger fail on user_sessions; drop function fail_now");
    await runJob("purge-user-sessions");
    assert.deepEqual(await doneOf(poison, ids), [true, true, true, true, true]);
  }
});

test("how long the oldest mail and the oldest webhook have been waiting is in /metrics", async () => {
  const read = async (queue: string) => {
    await runJob("measure-queues");
    const { text } = await api.call("GET", "/metrics", { headers: { authorization: "Bearer let me see" } });
    return Number(
      new RegExp(`^assay_oldest_due_seconds\\{queue="${queue}"\\} ([\\d.]+)$`, "m").exec(text)?.[1],
    );
  };
  await db.run(sql`delete from mails`);
  assert.equal(await read("mails"), 0);
  await db.transaction(async (tx) => {
    const now = ago(90 * secondMs);
    const id = newUuid(now);
    await insertMail(tx, { id, organizationId, content: sealedMail(id), now: later(now, hourMs) });
    await tx.run(sql`update mails set created_at = ${now}`);
  });
  assert.equal(await read("mails"), 90);
  await db.run(sql`delete from mails`);
  assert.equal(await read("mails"), 0);

  await runJob("deliver-webhooks");
  assert.equal(await read("webhooks"), 0);
  // The delivery is locked, so it stays due. Until then its endpoint is disabled.
  await db.run(sql`update webhook_endpoints set enabled = false where id = ${held.id}`);
  const id = await db.transaction((tx) =>
    insertDelivery(tx, ago(90 * secondMs), { status: "pending", endpointId: held.id }),
  );
  await admin.query("begin");
  await admin.query("select from webhook_delivery_queue for update");
  await db.run(sql`update webhook_endpoints set enabled = true where id = ${held.id}`);
  await db.notifyNow(deliveryChannel, "");
  await until("the delivery is late", async () => (await read("webhooks")) === 90);
  await admin.query("commit");
  await runJob("deliver-webhooks");
  assert.ok(await arrived(id));
  assert.equal(await read("webhooks"), 0);
});

test("the operator sees what is set aside, and has it tried again at once", async () => {
  const mine = await startTestService();
  const command = { DATABASE_URL: mine.databaseUrl, SECRET_KEYS: testRing, DATA_DIR: mine.dataDir };
  // The command has the time of the machine.
  mine.clock.set(new Date());
  const { organizationId: organization } = await createPartner(mine.api);
  assert.match((await assay(["jobs"], command)).stdout, /No row is quarantined/);
  const id = newUuid(mine.clock.now());
  const expired = later(mine.clock.now(), -hourMs);
  await mine.core.db.run(sql`
    insert into invitations (id, organization_id, email, role, token_hash, expires_at, created_at)
    values (${id}, ${organization}, ${canary}, 'member', ${randomBytes(32)}, ${expired}, ${expired})`);
  await mine.core.db.run(
    raw("alter table mailed_tokens add column invitation uuid references invitations (id)"),
  );
  await mine.core.db.run(sql`
    insert into mailed_tokens (id, user_id, purpose, email, token_hash, created_at, expires_at, invitation)
    select ${id}, user_id, 'magic_link', 'x', '', ${expired}, ${later(expired, dayMs)}, ${id} from memberships limit 1`);
  await mine.runJob("purge-invitations");
  const listed = await assay(["jobs"], command);
  assert.match(
    listed.stdout,
    new RegExp(`^purge-invitations +invitations +${id} +1 +\\S+ +\\S+ +23503, constraint .*_fkey`, "m"),
  );
  assert.ok(!listed.stdout.includes(canary));

  await mine.core.db.run(sql`delete from mailed_tokens where invitation = ${id}`);
  // Hours before the job would run again, and minutes before the row would be tried again.
  mine.clock.advance(5 * minuteMs);
  assert.match((await assayHere(["jobs", "retry", "--job", "other"], command)).stdout, /retry: 0\./);
  assert.match(
    (await assayHere(["jobs", "retry", "--job", "purge-invitations"], command)).stdout,
    /retry: 1\./,
  );
  for (const left of [sql`select 1 from invitations`, sql`select 1 from set_aside_rows`])
    await until("the row is gone", async () => (await mine.core.db.rows(left)).length === 0);
});

// Last: without the key in the service's ring, nothing can be opened any more.
test("one mail that does not open does not keep the others from a new key", async () => {
  const fresh = new KeyRing([newRingKey(ring.keys), ...ring.keys]);
  // Due so late that no worker sends them meanwhile.
  const ids = await db.transaction(async (tx) => {
    const planted = await plantMails(tx);
    await tx.run(sql`update mails set next_attempt_at = ${later(clock.now(), dayMs)}`);
    return planted;
  });
  const bad = ids[2] ?? "";
  const repair = await db.transaction((tx) =>
    replacing("mails", "content", () => sealedMail(randomUUID()))(tx, bad),
  );
  const keyOf = async (id: string) =>
    (await db.one<{ key: string }>(sql`select sealed_under(content) as key from mails where id = ${id}`)).key;
  const keysOf = () => Promise.all(ids.map(keyOf));
  const [next = ""] = fresh.keys.map((key) => key.id);
  assert.equal((await resealAll(db, fresh, clock.now())).stuck, 1);
  assert.deepEqual(await keysOf(), [next, next, "1", next, next]);
  assert.equal((await asideOf(bad))[0]?.job, "seal-anew");
  await repair();
  assert.equal((await resealAll(db, fresh, clock.now())).stuck, 0);
  assert.deepEqual(await keysOf(), [next, next, next, next, next]);
  assert.deepEqual(await asideOf(bad), []);
});
