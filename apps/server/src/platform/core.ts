import type { Config } from "../config.ts";
import type { Db } from "./db/db.ts";
import type { Quarantine } from "./db/quarantine.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Dns } from "./lib/dns.ts";
import type { KeyRing } from "./lib/key-ring.ts";
import type { Log } from "./lib/log.ts";
import type { Metrics } from "./lib/metrics.ts";
import type { SafeFetch } from "./lib/safe-fetch.ts";

/** Shared services for use cases. Built once in `open-services.ts` and passed down: there are no globals. */
export type Core = {
  config: Config;
  db: Db;
  clock: Clock;
  dns: Dns;
  ring: KeyRing;
  log: Log;
  metrics: Metrics;
  quarantine: Quarantine;
  /** For addresses that users configure. */
  safeFetch: SafeFetch;
  /** Address under which people and partners reach the service, without a trailing slash. */
  publicUrl: () => string;
};
