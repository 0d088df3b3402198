import type { Metrics } from "../lib/metrics.ts";
import type { Db } from "./db.ts";
import type { Listener } from "./listener.ts";

/** Requests that wait for a connection are the first sign of a small pool or a slow database. */
export function showConnections(metrics: Metrics, db: Db, listener: Listener): void {
  metrics.gaugeOf("assay_db_pool_limit", "Connections that the pool may open.", () => db.pool.figures.limit);
  metrics.gaugeOf("assay_db_pool_open", "Connections of the pool, busy or idle.", () => db.pool.figures.open);
  metrics.gaugeOf("assay_db_pool_idle", "Idle connections of the pool.", () => db.pool.figures.idle);
  metrics.gaugeOf(
    "assay_db_pool_waiting",
    "Tasks that wait for a connection.",
    () => db.pool.figures.waiting,
  );
  metrics.gaugeOf(
    "assay_db_listener_connected",
    "1 while database notifications arrive, 0 while only polling finds work.",
    () => (listener.connected ? 1 : 0),
  );
}
