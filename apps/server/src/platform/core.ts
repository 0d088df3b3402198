import type { Config } from "../config.ts";
import type { Db } from "./db/db.ts";
import type { SetAside } from "./db/set-aside.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Dns } from "./lib/dns.ts";
import type { KeyRing } from "./lib/key-ring.ts";
import type { Log } from "./lib/log.ts";
import type { Metrics } from "./lib/metrics.ts";
import type { SafeFetch } from "./lib/safe-fetch.ts";

/** What every use case may need. Built once in `app.ts` and passed down; nothing is reached through a global. */
export type Core = {
  config: Config;
  db: Db;
  clock: Clock;
  dns: Dns;
  ring: KeyRing;
  log: Log;
  metrics: Metrics;
  setAside: SetAside;
  /** For addresses that others chose. */
  safeFetch: SafeFetch;
  /** Address under which people and partners reach the service, without a slash at its end. */
  publicUrl: () => string;
};
