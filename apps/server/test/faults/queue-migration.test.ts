import assert from "node:assert/strict";
import test from "node:test";
import type { OrganizationId } from "@assay/contract/ids";
import { deliveryStatuses } from "@assay/contract/webhooks";
import { openDb } from "../../src/db/db.ts";
import { listMigrations, migrate } from "../../src/db/migrate.ts";
import { sql } from "../../src/db/sql.ts";
import { hourMs, later, secondMs } from "../../src/kernel/clock.ts";
import { newId, newUuid } from "../../src/kernel/ids.ts";
import { claimDue, listDeliveries, restartDeliveries } from "../../src/webhooks/delivery.store.ts";
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
  const listed = async (status: (typeof deliveryStatuses)[number], at: Date) =>
    (await listDeliveries(db, organizationId, { status, limit: 10 }, at)).items.map((row) => row.id);
  for (const [status, id] of ids) assert.deepEqual(await listed(status, now), [id], status);
  const failed = ids.get("failed");
  assert.ok(failed !== undefined);
  const restarted = await db.transaction((tx) => restartDeliveries(tx, organizationId, [failed], now));
  assert.deepEqual(
    restarted.map((row) => [row.id, row.status]),
    [[failed, "pending"]],
  );
  const at = later(now, 31 * secondMs);
  const lease = { owner: crypto.randomUUID(), now: at, until: later(at, secondMs) };
  const claimed = await claimDue(db, { kind: "url" }, [{ endpointId, most: 10 }], lease);
  assert.deepEqual(
    claimed.map((row) => [row.id, row.tries_used, row.lease_number]).sort(),
    [
      [ids.get("pending"), 3, 8],
      [ids.get("delivering"), 3, 8],
      [failed, 0, 1],
    ].sort(),
  );
  await db.close();
  await database.drop();
});
