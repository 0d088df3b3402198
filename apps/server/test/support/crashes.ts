import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Queryable } from "../../src/platform/db/db.ts";
import { sql } from "../../src/platform/db/sql.ts";
import { createAuthority } from "./certificate.ts";
import { killServer } from "./postgres-processes.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const drainWithinMs = 100_000;

/**
 * A data folder, a receiver of webhooks, and the environment for a process that reaches it. Node's own
 * setting makes it trust the authority; no setting of ours does.
 */
export async function prepareCrashes() {
  const authority = createAuthority();
  const folder = mkdtempSync(join(tmpdir(), "assay-crash-"));
  const dataDir = join(folder, "data");
  after(() => {
    killServer(dataDir);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  return {
    dataDir,
    receiver: await startReceiver(authority),
    env: { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1", NODE_EXTRA_CA_CERTS: caFile },
  };
}

/**
 * Refuses some events once, so that the load includes retries; the second would be minutes away. `before`
 * runs when a delivery is not answered yet. Returns a function that ends the refusals.
 */
export function refuseSome(receiver: Receiver, before: () => Promise<void> | void = () => {}): () => void {
  const refused = new Set<unknown>();
  let refusing = true;
  receiver.answerWith(async ({ headers }) => {
    const id = headers["webhook-id"];
    const refuse = refusing && receiver.received.length % 50 === 0 && !refused.has(id);
    if (refuse) refused.add(id);
    await before();
    return { status: refuse ? 500 : 200 };
  });
  return () => {
    refusing = false;
  };
}

/** Waits until the workers have sent this number of deliveries, and checks that no other is left. */
export async function expectAllSent(db: Queryable, deliveries: number): Promise<void> {
  const count = () =>
    db.one<{ waiting: number; pending: number; succeeded: number; failed: number }>(sql`
      select (select count(*) from webhook_delivery_queue) as waiting,
        count(*) filter (where status = 'pending') as pending,
        count(*) filter (where status = 'succeeded') as succeeded,
        count(*) filter (where status = 'failed') as failed
      from webhook_deliveries`);
  const deadline = Date.now() + drainWithinMs;
  let state = await count();
  while (state.succeeded < deliveries && Date.now() < deadline) {
    await wait(100);
    state = await count();
  }
  assert.deepEqual(state, { waiting: 0, pending: 0, succeeded: deliveries, failed: 0 });
  const left = await db.one<{ count: number }>(
    sql`select count(*) from webhook_deliveries where payload is not null`,
  );
  assert.equal(left.count, 0, "no payload is left");
}
