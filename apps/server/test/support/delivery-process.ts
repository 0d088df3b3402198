// A process that only delivers webhooks, or with ROLE=api answers requests and serves listeners, for tests
// that kill it. Its leases are short, so that its deliveries come back while the test waits.
import type { startService as StartService } from "../../src/app.ts";
import { loadConfig } from "../../src/load-config.ts";
import { systemClock } from "../../src/platform/kernel/clock.ts";
import { KeyRing, parseRing } from "../../src/platform/lib/key-ring.ts";
import { createLog } from "../../src/platform/lib/log.ts";
import { importBuilt } from "./built.ts";

const startService = await importBuilt<typeof StartService>("app", "startService");
const config = loadConfig(process.env);
const { url } = await startService({
  config,
  databaseUrl: config.databaseUrl,
  ring: new KeyRing(parseRing(config.secretKeys)),
  clock: systemClock,
  log: createLog({ level: "warn", write: (line) => process.stderr.write(line), now: () => new Date() }),
  role: process.env.ROLE === "api" ? "api" : "worker",
  webhooks: { leaseMs: Number(process.env.LEASE_MS ?? 2000), pollMs: 200 },
});
process.stdout.write(`ready ${url}\n`);
