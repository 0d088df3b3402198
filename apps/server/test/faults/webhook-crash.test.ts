import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import test, { after } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { publishEvents } from "../../src/delivery/webhooks/publish-event.ts";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { newId } from "../../src/platform/kernel/ids.ts";
import { createPartner } from "../support/api.ts";
import { expectAllSent, prepareCrashes, refuseSome } from "../support/crashes.ts";
import { cleanEnvironment } from "../support/process.ts";
import { createReceivingEndpoint } from "../support/receiver.ts";
import { startTestService } from "../support/service.ts";
import { tally } from "../support/tally.ts";
import { testRing } from "../support/test-ring.ts";
import { until } from "../support/until.ts";

const kills = Number(process.env.ASSAY_TEST_KILLS ?? 5);
const eventsBetweenKills = 40;
const { dataDir, receiver, env } = await prepareCrashes();
const { api, core, databaseUrl } = await startTestService({ role: "api", clock: systemClock, env });

const running = new Set<ChildProcess>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
});

function startDelivering(): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../support/delivery-process.ts")], {
    env: cleanEnvironment({
      ...env,
      PORT: "0",
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      DATABASE_POOL_SIZE: "4",
      SECRET_KEYS: testRing,
    }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

test("processes killed at random under load lose no event and leave none behind", async () => {
  refuseSome(receiver);
  const partner = await createPartner(api);
  await createReceivingEndpoint(partner.api, receiver.url);

  const published: string[] = [];
  let publishing = true;
  const publisher = (async () => {
    while (publishing) {
      const ids = await core.db.transaction((tx) => {
        const now = systemClock.now();
        const events = Array.from({ length: 5 }, () => ({
          type: "verification.session.expired" as const,
          session: {
            id: newId("vs", now),
            organizationId: partner.organizationId,
            sandbox: true,
            contractVersion: 1,
            clientReferenceId: null,
            webhookEndpointId: null,
          },
          data: { nfc_tries_used: 0, liveness_tries_used: 0, return_code_sha256: null },
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
    const enough = published.length + eventsBetweenKills;
    await until("more events are published", () => published.length >= enough);
    await wait(Math.random() * 300);
    const index = Math.random() < 0.5 ? 0 : 1;
    const victim = pair[index];
    victim?.kill("SIGKILL");
    if (victim && victim.exitCode === null && victim.signalCode === null) await once(victim, "exit");
    tally("processes killed");
    pair[index] = startDelivering();
  }
  publishing = false;
  await publisher;

  await expectAllSent(core.db, published.length);
  const arrived = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
  assert.deepEqual(
    published.filter((id) => !arrived.has(id)),
    [],
    "every event reached the receiver",
  );
});
