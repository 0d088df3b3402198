// Events published one by one over HTTP, through to the receiver:
// the whole cost of a delivery, server and PostgreSQL.

import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { median } from "@assay/face/median";
import pg from "pg";
import { Pool } from "undici";
import { postgresMicroseconds } from "./postgres-usage.ts";
import { cpuSeconds, type System } from "./system.ts";
import { ask, countOf, received, withReceiver } from "./with-receiver.ts";

const rounds = 5;
/** Concurrent requests. */
const connections = 16;

type Figures = { perSecond: number; serverMs: number; postgresMs: number; walBytes: number; p50Ms: number };

export async function publishing(
  events: number,
  against: string | null,
  { withWal = false, organizations = 40 } = {},
): Promise<void> {
  console.log(
    `\nEvents published one by one over HTTP, ${events} a round, ${connections} at once, ${organizations} organizations in turn with an endpoint each`,
  );
  await withReceiver(async ({ folder, databaseUrl, receiver, start }) => {
    const wanted = {
      roles: ["all"],
      organizations,
      // For an earlier version, where it was a setting.
      settings: { ORGANIZATION_TEST_EVENTS_PER_MINUTE: "100000" },
    };
    const systems = [await start({ ...wanted, name: "ours", root: resolve(import.meta.dirname, "../..") })];
    if (against !== null) systems.push(await start({ ...wanted, name: "before", root: resolve(against) }));
    const admin = new pg.Client({ connectionString: databaseUrl });
    // Ended by PostgreSQL where the work fails.
    admin.on("error", () => {});
    await admin.connect();
    const measure = async (system: System, count: number): Promise<Figures> => {
      // Test events are limited per minute, and this sends more, so those of the previous round are deleted.
      await forgetEvents(system);
      await ask(receiver, { ask: "record" });
      const before = await totals(system, folder, admin);
      const arrivedBefore = await countOf(receiver);
      const startedAt = performance.now();
      const sent = await publish(system, count);
      const receipts = await received(receiver, arrivedBefore, count);
      const seconds = (performance.now() - startedAt) / 1000;
      // Results are recorded a few milliseconds after the last arrival.
      await wait(500);
      const after = await totals(system, folder, admin);
      const latencies = receipts.flatMap(([id, at]) => (sent.has(id) ? [at - (sent.get(id) ?? 0)] : []));
      return {
        perSecond: count / seconds,
        serverMs: ((after.server - before.server) * 1000) / count,
        postgresMs: ((after.postgres - before.postgres) * 1000) / count,
        walBytes: (after.wal - before.wal) / count,
        p50Ms: median(latencies),
      };
    };
    await admin.query("checkpoint");
    // Warms code, connections and, after the checkpoint, the pages that are then no longer logged as a whole.
    for (const system of systems) await measure(system, Math.max(500, events / 2));
    const figures = new Map(systems.map((system) => [system.name, [] as Figures[]]));
    for (let round = 0; round < rounds; round++)
      for (const system of systems) figures.get(system.name)?.push(await measure(system, events));
    report(figures);
    if (withWal)
      for (const system of systems) {
        const { rows } = await admin.query<{ lsn: string }>("select pg_current_wal_insert_lsn() as lsn");
        await measure(system, events);
        await reportWal(system, rows[0]?.lsn ?? "", events);
      }
    await admin.end();
  });
}

function report(figures: ReadonlyMap<string, readonly Figures[]>): void {
  const of = (name: string, what: keyof Figures) => median((figures.get(name) ?? []).map((one) => one[what]));
  const cpuMs = (name: string) => of(name, "serverMs") + of(name, "postgresMs");
  for (const name of figures.keys()) {
    const parts = [
      `${of(name, "perSecond").toFixed(0)}/s`,
      `server ${of(name, "serverMs").toFixed(2)} + PostgreSQL ${of(name, "postgresMs").toFixed(2)} = ${cpuMs(name).toFixed(2)} ms CPU a delivery`,
      `${(of(name, "walBytes") / 1000).toFixed(1)} kB WAL`,
      `publish to receiver p50 ${of(name, "p50Ms").toFixed(0)} ms`,
    ];
    console.log(`  ${name.padEnd(8)} ${parts.join(", ")}`);
  }
  if (figures.has("before"))
    console.log(`  against the version before (goal 2) ${(cpuMs("before") / cpuMs("ours")).toFixed(2)}`);
}

/**
 * The contents of the WAL since `from`: per relation its records,
 * and the full page images (one per page after each checkpoint).
 */
async function reportWal({ name, databaseUrl }: System, from: string, events: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("create extension if not exists pg_walinspect");
  const { rows } = await client.query<{
    relation: string;
    record: string;
    count: string;
    bytes: string;
    images: string;
  }>(
    `select coalesce(c.relname, 'none') as relation, b.resource_manager || ' ' || b.record_type as record, count(*),
       sum(b.record_length - b.block_fpi_length) as bytes, sum(b.block_fpi_length) as images
     from (
       select start_lsn, resource_manager, record_type, record_length - fpi_length as record_length, 0 as block_fpi_length, null::oid as relfilenode
       from pg_get_wal_records_info($1, pg_current_wal_flush_lsn()) where block_ref is null or block_ref = ''
       union all
       select start_lsn, resource_manager, record_type, record_length, coalesce(block_fpi_length, 0), relfilenode
       from pg_get_wal_block_info($1, pg_current_wal_flush_lsn()) where block_id = 0) b
     left join pg_class c on c.relfilenode = b.relfilenode
     group by 1, 2 order by 4 desc limit 40`,
    [from],
  );
  console.log(`  WAL of ${name}, bytes an event (images apart):`);
  for (const row of rows)
    console.log(
      `    ${(Number(row.bytes) / events).toFixed(0).padStart(6)} ${(Number(row.images) / events).toFixed(0).padStart(6)} ${(Number(row.count) / events).toFixed(2).padStart(6)} ${row.record.padEnd(28)} ${row.relation}`,
    );
  await client.end();
}

/** Publishes this many events, and returns when each was sent, by event id. */
async function publish(system: System, count: number): Promise<Map<string, number>> {
  const pool = new Pool(system.url, { connections, pipelining: 1 });
  const sent = new Map<string, number>();
  let left = count;
  const publisher = async () => {
    while (left > 0) {
      left -= 1;
      const endpoint = system.endpoints[left % system.endpoints.length];
      const at = performance.timeOrigin + performance.now();
      const { statusCode, body } = await pool.request({
        method: "POST",
        path: `/v1/webhooks/endpoints/${endpoint?.id}/test`,
        headers: { authorization: `Bearer ${endpoint?.key}` },
      });
      const text = await body.text();
      if (statusCode !== 202) throw new Error(`${system.name} answered ${statusCode}: ${text.slice(0, 300)}`);
      sent.set((JSON.parse(text) as { data: { event: { id: string } } }).data.event.id, at);
    }
  };
  await Promise.all(Array.from({ length: connections }, publisher));
  await pool.close();
  return sent;
}

async function totals(system: System, dataDir: string, admin: pg.Client) {
  const { rows } = await admin.query("select pg_current_wal_lsn() - '0/0' as wal");
  const postgres = postgresMicroseconds(dataDir) / 1e6;
  return { server: await cpuSeconds(system), postgres, wal: Number(rows[0].wal) };
}

async function forgetEvents({ databaseUrl }: System): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("truncate events");
  await client.end();
}
