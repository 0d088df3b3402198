import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "../../src/db/sql.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { publishEvents } from "../../src/webhooks/publish-event.ts";
import { createPartner } from "../support/api.ts";
import { createAuthority } from "../support/certificate.ts";
import { createReceivingEndpoint, startReceiver } from "../support/receiver.ts";
import { startTestService, testRing } from "../support/service.ts";

const kills = 20;
const exempt = { WEBHOOK_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
const authority = createAuthority();
const folder = mkdtempSync(join(tmpdir(), "assay-crash-"));
const caFile = join(folder, "ca.pem");
writeFileSync(caFile, authority.certificate);
const { api, core, databaseUrl } = await startTestService({ role: "api", clock: systemClock, env: exempt });

const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function startDelivering(): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/delivery-process.ts")], {
    env: {
      PATH: process.env.PATH ?? "",
      ...exempt,
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: "4",
      SECRET_KEYS: testRing,
      // Trust comes from Node's own setting; nothing of ours is told about the authority.
      NODE_EXTRA_CA_CERTS: caFile,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

test("processes killed at random under load lose no event and leave none behind", async () => {
  const receiver = await startReceiver(authority);
  const refused = new Set<unknown>();
  // Some events are refused once, so that retries are part of the load; the second retry would be minutes away.
  receiver.answerWith(({ headers }) => {
    const id = headers["webhook-id"];
    if (receiver.received.length % 50 !== 0 || refused.has(id)) return { status: 200 };
    refused.add(id);
    return { status: 500 };
  });
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);

  const published: string[] = [];
  let publishing = true;
  const publisher = (async () => {
    while (publishing) {
      const ids = await core.db.transaction((tx) => {
        const now = systemClock.now();
        const events = Array.from({ length: 5 }, () => ({
          organizationId: partner.organizationId,
          type: "verification.session.expired" as const,
          sandbox: true,
          session: {
            id: newId("vs", now),
            contractVersion: 1,
            clientReferenceId: null,
            webhookEndpointId: null,
          },
          data: { nfc_tries_used: 0, liveness_tries_used: 0 },
        }));
        return publishEvents(core, tx, now, events);
      });
      published.push(...ids);
      await wait(40);
    }
  })();

  const pair = [startDelivering(), startDelivering()];
  await Promise.all(pair.map((child) => once(child.stdout ?? child, "data")));
  for (let kill = 0; kill < kills; kill++) {
    await wait(150 + Math.random() * 700);
    const index = Math.random() < 0.5 ? 0 : 1;
    const victim = pair[index];
    victim?.kill("SIGKILL");
    if (victim && victim.exitCode === null && victim.signalCode === null) await once(victim, "exit");
    pair[index] = startDelivering();
  }
  publishing = false;
  await publisher;

  const open = () =>
    core.db.one<{ delivering: number; pending: number; succeeded: number }>(sql`
      select count(*) filter (where status = 'delivering') as delivering,
        count(*) filter (where status = 'pending') as pending,
        count(*) filter (where status = 'succeeded') as succeeded
      from webhook_deliveries`);
  const deadline = Date.now() + 100_000;
  let state = await open();
  while (state.delivering + state.pending > 0 && Date.now() < deadline) {
    await wait(100);
    state = await open();
  }
  assert.deepEqual(state, { delivering: 0, pending: 0, succeeded: published.length });
  const arrived = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
  assert.deepEqual(
    published.filter((id) => !arrived.has(id)),
    [],
    "every event reached the receiver",
  );
  const left = await core.db.one<{ count: number }>(
    sql`select count(*) from webhook_deliveries where payload is not null or lease_owner is not null`,
  );
  assert.equal(left.count, 0);
  assert.ok(published.length > 300, `${published.length} events were the load`);
});
