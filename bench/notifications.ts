// Commits per second of a small write that notifies listeners: with the notification in its transaction,
// after it (as in the service), and without. On a single server, and on one with a synchronous replica.
// `--seconds N` per round (4).

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { median } from "@assay/face/median";
import pg from "pg";
import { type Db, openDb, type Tx } from "../apps/server/src/platform/db/db.ts";
import { sql } from "../apps/server/src/platform/db/sql.ts";
import { startEmbeddedPostgres } from "../apps/server/src/platform/installation/postgres/embedded-postgres.ts";

const writers = 16;
const rounds = 3;
const channel = "bench";

type Way = { name: string; tell: (tx: Tx, payload: string) => void };
const ways: readonly Way[] = [
  { name: "none", tell: () => {} },
  { name: "inside", tell: (tx, payload) => tx.write(sql`select pg_notify(${channel}, ${payload})`) },
  { name: "after", tell: (tx, payload) => tx.notify(channel, payload) },
];

export async function run(options: readonly string[] = []): Promise<void> {
  const at = options.indexOf("--seconds");
  const seconds = at < 0 ? 4 : Number(options[at + 1]);
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
  const quiet = { env: process.env, log: () => {} };
  const primary = await startEmbeddedPostgres({
    ...quiet,
    dataDir: join(folder, "primary"),
    settings: { max_wal_senders: "4" },
  });
  const admin = new pg.Client({ connectionString: primary.adminUrl });
  await admin.connect();
  let replica: { stop: () => Promise<unknown> } | null = null;
  try {
    await admin.query("create table written (id bigserial primary key, body text not null)");
    console.log(
      `\nCommits a second, ${writers} writers, rounds of ${seconds} s in turn, medians of ${rounds}`,
    );
    await compare("alone", primary.adminUrl, seconds);
    replica = await startReplica(admin, primary.adminUrl, folder, quiet);
    await compare("with a synchronous replica", primary.adminUrl, seconds);
    console.log(
      `  load ${loadavg()
        .map((one) => one.toFixed(1))
        .join(", ")}`,
    );
  } finally {
    // Otherwise commits would wait for the replica forever.
    await admin.query("alter system reset synchronous_standby_names");
    await admin.query("select pg_reload_conf()");
    await replica?.stop();
    await admin.end();
    await primary.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A copy of the running server's files that follows it, and that every commit waits for. */
async function startReplica(
  admin: pg.Client,
  primaryUrl: string,
  folder: string,
  quiet: { env: NodeJS.ProcessEnv; log: () => void },
) {
  const dataDir = join(folder, "replica");
  const data = join(dataDir, "postgres/data");
  await admin.query("select pg_backup_start('bench', true)");
  cpSync(join(folder, "primary"), dataDir, {
    recursive: true,
    preserveTimestamps: true,
    filter: (from) => !/postmaster\.(pid|opts)$|\.s\.PGSQL/.test(from),
  });
  const { rows } = await admin.query<{ labelfile: string }>("select labelfile from pg_backup_stop()");
  writeFileSync(join(data, "backup_label"), rows[0]?.labelfile ?? "");
  writeFileSync(join(data, "standby.signal"), "");
  const { searchParams } = new URL(primaryUrl);
  const replica = await startEmbeddedPostgres({
    ...quiet,
    dataDir,
    settings: {
      max_wal_senders: "4",
      primary_conninfo: `host=${searchParams.get("host")} port=${searchParams.get("port")} user=${searchParams.get("user")} password=${searchParams.get("password")} application_name=replica`,
    },
  });
  await admin.query("alter system set synchronous_standby_names = 'replica'");
  await admin.query("select pg_reload_conf()");
  for (let waitedMs = 0; ; waitedMs += 100) {
    const { rowCount } = await admin.query("select from pg_stat_replication where sync_state = 'sync'");
    if (rowCount === 1) return replica;
    if (waitedMs > 30_000) throw new Error("the replica does not follow");
    await wait(100);
  }
}

async function compare(label: string, url: string, seconds: number): Promise<void> {
  const listener = new pg.Client({ connectionString: url });
  await listener.connect();
  await listener.query(`listen ${channel}`);
  const db = openDb({ url, poolSize: writers + 1, onError: () => {} });
  const figures = new Map(ways.map((way) => [way, [] as Awaited<ReturnType<typeof measure>>[]]));
  for (const way of ways) await measure(db, way, 1);
  for (let round = 0; round < rounds; round++)
    for (const way of ways) figures.get(way)?.push(await measure(db, way, seconds));
  const of = (way: Way, what: "perSecond" | "p50Ms") =>
    median((figures.get(way) ?? []).map((one) => one[what]));
  for (const way of ways)
    console.log(
      `  ${label}, ${way.name}:`.padEnd(42),
      `${of(way, "perSecond").toFixed(0)} commits/s, p50 ${of(way, "p50Ms").toFixed(1)} ms`,
    );
  await db.close();
  await listener.end();
}

async function measure(db: Db, way: Way, seconds: number): Promise<{ perSecond: number; p50Ms: number }> {
  const took: number[] = [];
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  const write = async (name: number) => {
    for (let count = 0; performance.now() < endAt; count++) {
      const from = performance.now();
      await db.transaction(async (tx) => {
        await tx.run(sql`insert into written (body) values (${"x".repeat(500)})`);
        way.tell(tx, `${name} ${count}`);
      });
      took.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, name) => write(name)));
  return { perSecond: (took.length / (performance.now() - startedAt)) * 1000, p50Ms: median(took) };
}
