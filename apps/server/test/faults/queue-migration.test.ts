import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import { deliveryStatuses } from "@assay/contract/webhooks";
import { claimDue, listDeliveries, restartDeliveries } from "../../src/delivery/webhooks/delivery.store.ts";
import { openDb } from "../../src/platform/db/db.ts";
import { listMigrations, migrate } from "../../src/platform/db/migrate.ts";
import { sql } from "../../src/platform/db/sql.ts";
import { hourMs, later, secondMs } from "../../src/platform/kernel/clock.ts";
import { newId, newUuid } from "../../src/platform/kernel/ids.ts";
import { createTestDatabase } from "../support/database.ts";

test("deliveries from before the queue had a table are listed as they were, and those that waited go on", async () => {
  const database = await createTestDatabase();
  const db = openDb({ url: database.url, poolSize: 2, onError: () => {} });
  await db.run(sql`drop schema public cascade`);
  await db.run(sql`create schema public`);
  const before = listMigrations().filter(({ name }) => name < "0063");
  await migrate(database.url, { migrations: before });

  const now = new Date();
  const organizationId = newUuid<OrganizationId>(now);
  const endpointId = newId("whe", now);
  await db.run(sql`insert into organizations (id, name, slug, created_at, updated_at)
    values (${organizationId}, 'x', 'x', ${now}, ${now})`);
  await db.run(sql`
    insert into webhook_endpoints (id, organization_id, url, enabled, undelivered_payload_retention_hours, signing_secret, created_at,
      updated_at)
    values (${endpointId}, ${organizationId}, 'https://partner.example/', true, 72, '\\x00', ${now}, ${now})`);
  const ids = new Map(deliveryStatuses.map((status) => [status, newId("whd", now)]));
  for (const [status, id] of ids)
    await db.run(sql`
      insert into webhook_deliveries (id, organization_id, event_id, event_type, endpoint_id, status, payload, attempt_count, tries_used,
        next_attempt_at, payload_expires_at, lease_owner, lease_number, lease_until, created_at, updated_at)
      values (${id}, ${organizationId}, ${newId("evt", now)}, 'webhook.endpoint.test', ${endpointId}, ${status},
        ${status === "succeeded" ? null : "sealed"}, 2, 3, ${status === "pending" ? now : null},
        ${status === "failed" ? later(now, hourMs) : null}, ${status === "delivering" ? crypto.randomUUID() : null}, 7,
        ${status === "delivering" ? later(now, 30 * secondMs) : null}, ${now}, ${now})`);

  await migrate(database.url);
  const tenant = { organizationId, environment: "sandbox" } as const;
  const listed = async (status: (typeof deliveryStatuses)[number], at: Date) =>
    (await listDeliveries(db, tenant, { status, limit: 10 }, at)).items.map((row) => row.id);
  for (const [status, id] of ids) assert.deepEqual(await listed(status, now), [id], status);
  const failed = ids.get("failed");
  assert.ok(failed !== undefined);
  const restarted = await db.transaction((tx) => restartDeliveries(tx, tenant, [failed], now));
  assert.deepEqual(
    restarted.map((row) => [row.id, row.status]),
    [[failed, "pending"]],
  );
  const at = later(now, 31 * secondMs);
  const lease = { owner: crypto.randomUUID(), now: at, until: later(at, secondMs) };
  const claimed = await claimDue(db, { kind: "url" }, [{ endpointId, most: 10 }], lease);
  assert.deepEqual(
    claimed.map((row) => [row.id, row.triesUsed, row.leaseNumber]).sort(),
    [
      [ids.get("pending"), 3, 8],
      [ids.get("delivering"), 3, 8],
      [failed, 0, 1],
    ].sort(),
  );
  await db.close();
  await database.drop();
});

test("what there was before there were two environments is in the one that it came to be in", async () => {
  const database = await createTestDatabase();
  const db = openDb({ url: database.url, poolSize: 2, onError: () => {} });
  await db.run(sql`drop schema public cascade`);
  await db.run(sql`create schema public`);
  await migrate(database.url, { migrations: listMigrations().filter(({ name }) => name < "0064") });
  const now = new Date();
  const expected: Record<string, boolean> = {};
  const expect = <T extends string>(id: T, sandbox: boolean): T => {
    expected[id] = sandbox;
    return id;
  };
  // One organization is still in the sandbox; the other went live and has sessions from before.
  for (const environment of ["sandbox", "live"] as const) {
    const isSandbox = environment === "sandbox";
    const organizationId = newUuid<OrganizationId>(now);
    await db.run(sql`insert into organizations (id, name, slug, environment, created_at, updated_at)
      values (${organizationId}, 'x', ${environment}, ${environment}, ${now}, ${now})`);
    const endpointId = expect(newId("whe", now), isSandbox);
    await db.run(sql`
      insert into webhook_endpoints (id, organization_id, url, enabled, undelivered_payload_retention_hours, signing_secret,
        created_at, updated_at)
      values (${endpointId}, ${organizationId}, 'https://partner.example/', true, 72, '\\x00', ${now}, ${now})`);
    await db.run(sql`
      insert into api_keys (id, organization_id, name, scopes, secret_hash, hash_key_id, created_at, updated_at)
      values (${expect(newUuid(now), isSandbox)}, ${organizationId}, 'x', '{}', ${Buffer.from(environment)}, 'k', ${now}, ${now})`);
    await db.run(
      sql`insert into session_allowances (organization_id, bound, window_from) values (${organizationId}, 9, ${now})`,
    );
    for (const sandbox of isSandbox ? [true] : [true, false]) {
      const [sessionId, eventId] = [expect(newId("vs", now), sandbox), expect(newId("evt", now), sandbox)];
      await db.run(sql`
        insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash,
          expires_at, created_at, updated_at)
        values (${sessionId}, ${organizationId}, 'in_progress', 1, '{}', '{}', ${sandbox}, '', ${now}, ${now}, ${now})`);
      await db.run(sql`
        insert into attempts (id, session_id, organization_id, status, session_expires_at, created_at, updated_at)
        values (${expect(newId("va", now), sandbox)}, ${sessionId}, ${organizationId}, 'in_progress', ${now}, ${now}, ${now})`);
      await db.run(sql`
        insert into events (id, organization_id, type, session_id, sandbox, created_at)
        values (${eventId}, ${organizationId}, 'verification.session.expired', ${sessionId}, ${sandbox}, ${now})`);
      // Of the event above, and of one that was purged a moment ago.
      for (const [of, inSandbox] of [
        [eventId, sandbox],
        [newId("evt", now), isSandbox],
      ] as const) {
        const deliveryId = expect(newId("whd", now), inSandbox);
        await db.run(sql`
          insert into webhook_deliveries (id, organization_id, event_id, event_type, endpoint_id, status, payload, attempt_count,
            created_at, updated_at)
          values (${deliveryId}, ${organizationId}, ${of}, 'verification.session.expired', ${endpointId}, 'pending', 'x', 0, ${now}, ${now})`);
        await db.run(sql`
          insert into webhook_delivery_queue (organization_id, delivery_id, endpoint_id, due_at, tries_used, lease_number, scrubbed,
            changed_at)
          values (${organizationId}, ${deliveryId}, ${endpointId}, ${now}, 0, 0, false, ${now})`);
      }
    }
  }
  await migrate(database.url);
  const rows = await db.rows<{ id: string; sandbox: boolean }>(sql`
    select id::text, sandbox from api_keys union all select id, sandbox from webhook_endpoints
    union all select id, sandbox from sessions union all select id, sandbox from attempts
    union all select id, sandbox from events union all select id, sandbox from webhook_deliveries
    union all select delivery_id, sandbox from webhook_delivery_queue`);
  assert.equal(rows.length, 4 + 3 + 3 + 3 + 2 * 6);
  for (const { id, sandbox } of rows) assert.equal(sandbox, expected[id], id);
  await db.close();
  await database.drop();
});

test("open sessions that were tried before steps were stored have their steps, and those that have ended are left alone", async () => {
  const database = await createTestDatabase();
  const db = openDb({ url: database.url, poolSize: 2, onError: () => {} });
  await db.run(sql`drop schema public cascade`);
  await db.run(sql`create schema public`);
  await migrate(database.url, { migrations: listMigrations().filter(({ name }) => name < "0106") });
  const now = new Date("2026-03-01T10:00:00.000Z");
  const insert = async (status: string, chip: number, face: number, passed: Date | null) => {
    const id = newId("vs", now);
    const completed = status === "cancelled" ? now : null;
    await db.run(sql`
      insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox, cancel_token_hash, expires_at,
        completed_at, created_at, updated_at, nfc_tries_used, liveness_tries_used, chip_passed_at)
      values (${id}, ${newUuid<OrganizationId>(now)}, ${status}, 1, '{}', '{}', true, '', ${now}, ${completed}, ${now}, ${now}, ${chip}, ${face},
        ${passed})`);
    return id;
  };
  const passedAt = "2026-03-01T10:00:00+00:00";
  const expected = new Map<string, object>([
    [await insert("created", 0, 0, null), {}],
    [await insert("in_progress", 1, 0, null), { chip: { tries: 1 } }],
    [await insert("in_progress", 2, 1, now), { chip: { tries: 2, passed_at: passedAt }, face: { tries: 1 } }],
    [await insert("cancelled", 2, 1, now), {}],
  ]);
  await migrate(database.url);
  await db.run(sql`set time zone 'UTC'`);
  const rows = await db.rows<{ id: string; steps: object }>(sql`select id, steps from sessions`);
  assert.deepEqual(new Map(rows.map(({ id, steps }) => [id, steps])), expected);
  await db.close();
  await database.drop();
});
