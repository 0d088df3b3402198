// A process of the service that delivers webhooks, and publishes them at the benchmark's request.

import type { EventData } from "@assay/contract/events";
import type { OrganizationId } from "@assay/contract/ids";
import { startService } from "../../apps/server/src/app.ts";
import { publishEvents } from "../../apps/server/src/delivery/webhooks/publish-event.ts";
import { loadConfig } from "../../apps/server/src/load-config.ts";
import { sql } from "../../apps/server/src/platform/db/sql.ts";
import { systemClock } from "../../apps/server/src/platform/kernel/clock.ts";
import { newId } from "../../apps/server/src/platform/kernel/ids.ts";
import { KeyRing, parseRing } from "../../apps/server/src/platform/lib/key-ring.ts";
import { createLog } from "../../apps/server/src/platform/lib/log.ts";

const config = loadConfig(process.env);
const extraHosts = Number(process.env.EXEMPT_LOOPBACK ?? 0);
config.webhookAllowedPrivateHosts = [
  ...config.webhookAllowedPrivateHosts,
  ...Array.from({ length: extraHosts }, (_, n) => `127.1.${n >> 8}.${n & 255}`),
];

const { core } = await startService({
  config,
  databaseUrl: config.databaseUrl,
  ring: new KeyRing(parseRing(config.secretKeys)),
  clock: systemClock,
  log: createLog({ level: "warn", write: (line) => process.stderr.write(line), now: () => new Date() }),
  role: "worker",
});

async function publish(
  organizationId: OrganizationId,
  events: number,
  perTransaction: number,
  data: EventData<"verification.session.succeeded">,
) {
  let left = events;
  const publisher = async () => {
    while (left > 0) {
      const size = Math.min(left, perTransaction);
      left -= size;
      await core.db.transaction((tx) => {
        const now = systemClock.now();
        return publishEvents(
          core,
          tx,
          now,
          Array.from({ length: size }, () => ({
            type: "verification.session.succeeded" as const,
            session: {
              id: newId("vs", now),
              organizationId,
              sandbox: true,
              contractVersion: 1,
              clientReferenceId: null,
              webhookEndpointId: null,
            },
            data,
          })),
        );
      });
    }
  };
  await Promise.all(Array.from({ length: 4 }, publisher));
}

type Message =
  | {
      ask: "publish";
      organizationId: OrganizationId;
      events: number;
      perTransaction: number;
      data: EventData<"verification.session.succeeded">;
    }
  | { ask: "drained" }
  | { ask: "usage" };

process.on("message", async (message: Message) => {
  if (message.ask === "publish")
    await publish(message.organizationId, message.events, message.perTransaction, message.data);
  if (message.ask === "drained") {
    for (;;) {
      const open = await core.db.one<{ open: boolean }>(sql`
        select exists (select from webhook_delivery_queue) as open`);
      if (!open.open) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system, rssMb: process.memoryUsage().rss / 1e6 });
});
process.send?.({ ready: true });
