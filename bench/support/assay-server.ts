import { startService } from "../../apps/server/src/app.ts";
import { loadConfig } from "../../apps/server/src/load-config.ts";
import { systemClock } from "../../apps/server/src/platform/kernel/clock.ts";
import { KeyRing, parseRing } from "../../apps/server/src/platform/lib/key-ring.ts";
import { createLog } from "../../apps/server/src/platform/lib/log.ts";
import { createLogWriter } from "../../apps/server/src/platform/lib/log-writer.ts";
import { announce } from "./server-process.ts";

// The benchmark of publishing sends test events.
const config = { ...loadConfig(process.env), organizationTestEventsPerMinute: 100_000 };
const service = await startService({
  config,
  databaseUrl: config.databaseUrl,
  ring: new KeyRing(parseRing(config.secretKeys)),
  clock: systemClock,
  log: createLog({ level: "info", write: createLogWriter(() => {}), now: () => new Date() }),
  role: process.argv[2] === "api" || process.argv[2] === "worker" ? process.argv[2] : "all",
});
process.on("SIGTERM", () => {
  service.close().then(
    () => process.exit(),
    () => process.exit(1),
  );
});
announce(service.url);
