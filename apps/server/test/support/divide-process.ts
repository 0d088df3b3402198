import { loadConfig } from "../../src/config.ts";
import { openDb } from "../../src/db/db.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { keepParts } from "../../src/retention/keep-parts.job.ts";

// Divides the tables of a database, as a worker does, and may be killed while it is at it. Says when it begins.
const config = loadConfig({ ...process.env, DATABASE_PARTITIONS: "all" });
const db = openDb({ url: config.databaseUrl, poolSize: 2, onError: () => {} });
const log = createLog({
  level: "warn",
  write: (line) => process.stderr.write(line),
  now: () => systemClock.now(),
});
const keep = keepParts({ config, db, clock: systemClock, log, metrics: new Metrics() });
process.stdout.write("ready\n");
// The first run closes the database to older releases; the next one would come minutes later.
await keep();
await keep();
await db.close();
