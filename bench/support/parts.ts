// Tables that are kept in parts: what reading them costs beside tables in one piece, and what the end of a month takes.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { DeliveryId, EventId, OrganizationId, SessionId } from "@assay/contract/ids";
import { median } from "@assay/face/median";
import type pg from "pg";
import { listAuditLogs } from "../../apps/server/src/audit/audit.store.ts";
import { loadConfig } from "../../apps/server/src/config.ts";
import type { Core } from "../../apps/server/src/core.ts";
import { allRows, type Db, openDb, type Queryable } from "../../apps/server/src/db/db.ts";
import type { Row } from "../../apps/server/src/db/flight.ts";
import { listParts, readKnownParts } from "../../apps/server/src/db/parts.store.ts";
import { type CutList, listCutter } from "../../apps/server/src/db/parts.ts";
import { SetAside } from "../../apps/server/src/db/set-aside.ts";
import { Sql, sql } from "../../apps/server/src/db/sql.ts";
import { type Clock, dayMs, later } from "../../apps/server/src/kernel/clock.ts";
import { knownId } from "../../apps/server/src/kernel/ids.ts";
import { createLog } from "../../apps/server/src/lib/log.ts";
import { Metrics } from "../../apps/server/src/lib/metrics.ts";
import { growingTables } from "../../apps/server/src/retention/divided-tables.store.ts";
import { keepParts } from "../../apps/server/src/retention/keep-parts.job.ts";
import { retentionJobs } from "../../apps/server/src/retention/retain-sessions.job.ts";
import {
  findSession,
  heldOpenAttempt,
  heldSession,
  listAttempts,
  listSessions,
} from "../../apps/server/src/sessions/session.store.ts";
import { deleteConsents } from "../../apps/server/src/verify/consent.store.ts";
import { findStatus } from "../../apps/server/src/verify/status.store.ts";
import { findDelivery, listDeliveries } from "../../apps/server/src/webhooks/delivery.store.ts";
import { findEvent, listEvents } from "../../apps/server/src/webhooks/event.store.ts";
import { createPurgeHistory } from "../../apps/server/src/webhooks/purge-history.job.ts";
import { createDatabase } from "./database.ts";

/** An id as the service makes them, from a column of milliseconds: eight characters of time, the rest arbitrary. */
export function idSql(prefix: string, milliseconds: string, salt: string): string {
  const characters = [7, 6, 5, 4, 3, 2, 1, 0].map(
    (place) => `substr('${alphabet}', 1 + (${milliseconds} / ${62 ** place} % 62)::int, 1)`,
  );
  return `'${prefix}' || ${characters.join(" || ")} || md5(${salt}::text) || left(md5('x' || ${salt}), 24)`;
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// --- parts --------------------------------------------------------------------------------------------------------

const quiet = createLog({
  level: "error",
  write: (line) => process.stderr.write(line),
  now: () => new Date(),
});

/** Tables in parts of the widths that they would have, as if they had been divided then. */
export async function divideFor(db: Db, from: Date, until: Date): Promise<void> {
  let at = from;
  const clock: Clock = { now: () => at };
  const keep = keepParts({ config, db, clock, log: quiet, metrics: new Metrics() });
  // The first run closes the database to older releases, and divides nothing.
  await keep();
  for (; at <= later(until, 5 * dayMs); at = later(at, 5 * dayMs)) await keep();
}

/** As a process does that has looked which parts there are. */
export async function heedParts(db: Db, now: Date): Promise<CutList> {
  const cutList = listCutter(await readKnownParts(db, growingTables, now), { now: () => now });
  db.heedParts(cutList);
  return cutList;
}

/** The end of retention for a month of sessions that are all past it: by rows, in one table, and by parts. Everything is kept for 30 days here. */
export async function measureDrop(adminUrl: string, rows: number, cold: boolean, now: Date): Promise<void> {
  console.log(`\nA month of ${rows.toLocaleString("en")} sessions is past its time`);
  for (const kind of ["parts", "rows"] as const) {
    if (kind === "rows" && rows > 200_000) continue;
    const db = await createDatabase(adminUrl, `bench_drop_${kind}`);
    if (kind === "parts") await divideFor(db, later(now, -86 * dayMs), later(now, -50 * dayMs));
    await fillMonth(db, rows, later(now, -72 * dayMs));
    if (cold) await forgetFiles(db);
    await endOfMonth(db, kind, rows, now);
    await db.close();
  }
}

/** Everything that the tables hold is past its time at this moment. */
export async function endOfMonth(db: Db, kind: "parts" | "rows", rows: number, now: Date): Promise<void> {
  const bytesBefore = await bytesByTable(db);
  const total = [...bytesBefore.values()].reduce((sum, bytes) => sum + bytes, 0);
  console.log(`  ${kind}: ${Math.round(total / rows)} bytes a session, all in`);
  for (const [table, bytes] of bytesBefore)
    console.log(`    ${table.padEnd(20)} ${Math.round(bytes / rows)}`);
  const core = { config, db, clock: { now: () => now }, log: quiet, metrics: new Metrics() };
  const setAside = new SetAside(core);
  // Parts for the time ahead are made in any case.
  if (kind === "parts") await keepParts({ ...core, config: unhurriedConfig })();
  let dropped = 0;
  const counting = createLog({ level: "info", write: () => dropped++, now: () => new Date() });
  const before = await backendsMs(db);
  const waits = readMeanwhile(db);
  const started = performance.now();
  if (kind === "parts") await keepParts({ ...core, log: counting })();
  else await deleteByRows({ ...core, setAside });
  const seconds = (performance.now() - started) / 1000;
  const waited = await waits.end();
  const spent = await backendsMs(db);
  const after = [...(await bytesByTable(db)).values()].reduce((sum, bytes) => sum + bytes, 0);
  const { left } = await db.one<{ left: number }>(sql`
      select (select count(*) from sessions) + (select count(*) from attempts) + (select count(*) from consents)
        + (select count(*) from events) + (select count(*) from webhook_deliveries) + (select count(*) from audit_logs) as left`);
  if (left > 0) throw new Error(`${left} rows are left`);
  console.log(
    `    gone in ${seconds.toFixed(2)} s: the backends had the processor for ${(spent.cpu - before.cpu).toFixed(0)} ms and waited for it for ${(spent.queued - before.queued).toFixed(0)}; ${(total / 2 ** 20).toFixed(1)} MiB before, ${(after / 2 ** 20).toFixed(1)} MiB after`,
  );
  console.log(
    `    meanwhile somebody else read a session ${waited.length} times: ${median(waited).toFixed(1)} ms, the longest ${Math.max(...waited).toFixed(0)} ms`,
  );
  if (kind === "parts") console.log(`    ${dropped} parts`);
}

/** Has the kernel forget what it holds of the files of these tables. */
async function forgetFiles(db: Db): Promise<void> {
  const rows = await db.rows<{ file: string }>(sql`
    with tables as (select p.relid as id from unnest(${growingTables.map(({ table }) => table)}::regclass[]) t, pg_partition_tree(t) p)
    select current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) as file from pg_class c
    where c.relkind in ('r', 't', 'i') and (c.oid in (select id from tables)
      or c.oid in (select reltoastrelid from pg_class where oid in (select id from tables))
      or c.oid in (select indexrelid from pg_index where indrelid in (select id from tables)))`);
  await db.withConnection((client) => client.query("checkpoint"));
  const each = `for f in "$@"; do for s in "$f" "$f".*; do
    if [ -s "$s" ]; then dd of="$s" oflag=nocache conv=notrunc,fdatasync count=0 status=none; fi; done; done`;
  execFileSync("sh", ["-c", each, "sh", ...rows.map(({ file }) => file)], { stdio: "ignore" });
}

/** Reads a session again and again, with 2 ms in between, and tells how long each time took. */
function readMeanwhile(db: Db): { end: () => Promise<number[]> } {
  const took: number[] = [];
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      const from = performance.now();
      await db.first(sql`select from sessions where id = 'vs_0'`);
      took.push(performance.now() - from);
      await wait(2);
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await reading;
      return took;
    },
  };
}

/** What all connections of this database that are open have had of the processor, and how long they waited for it. */
async function backendsMs(db: Db): Promise<{ cpu: number; queued: number }> {
  const rows = await db.rows<{ pid: number }>(
    sql`select pid from pg_stat_activity where datname = current_database()`,
  );
  const all = rows.map(({ pid }) => scheduledUs(pid));
  return {
    cpu: all.reduce((sum, { cpu }) => sum + cpu / 1000, 0),
    queued: all.reduce((sum, { queued }) => sum + queued / 1000, 0),
  };
}

/** What the connections of others to this database have had of the processor since then, in microseconds. One that has ended meanwhile counts for nothing. */
export async function othersCpuClock(db: Db): Promise<() => Promise<number>> {
  const read = async () => {
    const rows = await db.rows<{ pid: number }>(sql`
      select pid from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
    return new Map(rows.map(({ pid }) => [pid, scheduledUs(pid).cpu]));
  };
  const before = await read();
  return async () => {
    let spent = 0;
    for (const [pid, cpu] of await read()) spent += cpu - (before.get(pid) ?? 0);
    return spent;
  };
}

/** The processor time of the only connection of a database, in microseconds. */
export async function cpuClockOf(db: Db): Promise<() => number> {
  const { pid } = await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`);
  return () => scheduledUs(pid).cpu;
}

/** What a process has had of the processor, and how long it was ready and waited for it, by the kernel's clock. */
function scheduledUs(pid: number): { cpu: number; queued: number } {
  const [cpu = 0, queued = 0] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return { cpu: cpu / 1000, queued: queued / 1000 };
}

const config = loadConfig({
  DATABASE_PARTITIONS: "all",
  AUDIT_RETENTION_DAYS: "30",
  WEBHOOK_HISTORY_DAYS: "30",
});

/** Nothing is past its time yet. */
const unhurriedConfig = {
  ...config,
  sessionRetentionDays: 150,
  webhookHistoryDays: 150,
  auditRetentionDays: 150,
};

async function deleteByRows(core: Pick<Core, "config" | "db" | "clock" | "log" | "metrics" | "setAside">) {
  const whole = core as Core;
  const jobs = retentionJobs(whole, { ofDevices: [], ofSessions: [deleteConsents] });
  const purges = jobs.filter(({ name }) => name.startsWith("purge-")).map(({ run: each }) => each);
  for (const each of [...purges, createPurgeHistory(whole, "purge-webhook-history")])
    while ((await each()) > 0);
}

/** Tables that are divided, with their parts and indexes. */
async function bytesByTable(db: Db): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const { table } of growingTables) {
    const { bytes } = await db.one<{ bytes: number }>(sql`
      select pg_total_relation_size(${table}::regclass)
        + coalesce(sum(pg_total_relation_size(relid)) filter (where relid <> ${table}::regclass), 0)::bigint as bytes
      from pg_partition_tree(${table}::regclass)`);
    sizes.set(table, bytes);
  }
  return sizes;
}

/** Sessions that succeeded, evenly over 29 days, a tenth of them of one organization: with an attempt, a consent, an event, a delivery that arrived and four audit entries each. */
export async function fillMonth(db: Db, rows: number, from: Date): Promise<void> {
  await db.withConnection(async (client) => {
    await client.query("set statement_timeout = 0");
    // To make the ids takes as long as to write their rows, and most of them are in several tables.
    await client.query(
      `create unlogged table month as select i, to_timestamp(ms / 1000.0) as at, lpad(to_hex(ms), 12, '0') as hex, ${idSql("", "ms", "i")} as id,
        ('00000000-0000-7000-8000-' || lpad(to_hex(case when i % 10 = 0 then 0 else i % 1000 end), 12, '0'))::uuid as organization
      from (select i, $2::bigint + i * ${29 * dayMs} / $1::bigint as ms from generate_series(0, $1::bigint - 1) as i) as times`,
      [rows, from.getTime()],
    );
  });
  const waiting = Object.entries(ofMonth);
  const fill = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [table, statement] = next;
      await db.withConnection(async (client) => {
        await client.query("set synchronous_commit = off; set statement_timeout = 0");
        await loadBare(client, table, () => client.query(statement));
        await client.query(`vacuum analyze ${table}`);
      });
    }
  };
  // Tables do not refer to each other, so that a second core can have the next one.
  await Promise.all([fill(), fill()]);
  await db.withConnection((client) => client.query("drop table month; checkpoint"));
}

/** Has a table filled without its indexes, which are built afterwards: many times faster than keeping them while the table grows. */
export async function loadBare(
  client: pg.ClientBase,
  table: string,
  load: () => Promise<unknown>,
): Promise<void> {
  const { rows } = await client.query(
    `select c.relname as name, pg_get_constraintdef(k.oid) as "constraint", replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ') as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid left join pg_constraint k on k.conindid = c.oid and k.contype = 'p'
    where i.indrelid = $1::regclass`,
    [table],
  );
  const indexes = rows as { name: string; constraint: string | null; definition: string }[];
  for (const { name, constraint } of indexes)
    await client.query(
      constraint === null ? `drop index ${name}` : `alter table ${table} drop constraint ${name}`,
    );
  await load();
  await client.query("set maintenance_work_mem = '512MB'");
  for (const { name, constraint, definition } of indexes)
    await client.query(
      constraint === null ? definition : `alter table ${table} add constraint ${name} ${constraint}`,
    );
}

/** The statement that fills a table. */
const ofMonth: Record<string, string> = {
  audit_logs: `
    insert into audit_logs (id, organization_id, event, actor_kind, target_id, created_at, sandbox)
    select (hex || '70008' || right(md5(i || event), 15))::uuid, organization, event, 'system', 'vs_' || id, at, true
    from month, unnest('{session.created,session.claimed,consent.given,session.succeeded}'::text[]) as event`,
  sessions: `
    insert into sessions (id, organization_id, status, contract_version, share_fields, redirect_url, client_reference_id, metadata,
      sandbox, cancel_token_hash, expires_at, completed_at, created_at, updated_at, chip_passed_at, opened_at, nfc_tries_used,
      liveness_tries_used)
    select 'vs_' || id, organization, 'succeeded', 1,
      '{"date_of_birth":{"required":true,"reason":"We must know that you are of age.","source":"rc"}}',
      'https://shop.example.com/done', 'order-' || i, '{"channel":"mobile"}', true, sha256(int8send(i)), at + interval '1 hour',
      at + interval '5 minutes', at, at + interval '5 minutes', at, at, 1, 1 from month`,
  attempts: `
    insert into attempts (id, session_id, organization_id, sandbox, status, session_expires_at, minimised_at, completed_at, created_at,
      updated_at)
    select 'va_' || id, 'vs_' || id, organization, true, 'succeeded', at + interval '1 hour', at, at, at, at from month`,
  // Rows below two kilobytes are not compressed, so that a receipt may repeat itself.
  consents: `
    insert into consents (session_id, organization_id, id, selected_field_keys, terms_version, terms_hash, receipt, cancel_token_hash,
      given_at)
    select 'vs_' || id, organization, gen_random_uuid(), '{date_of_birth}', '1', md5('t'), repeat(md5(i::text), 28),
      sha256(int8send(i)), at from month`,
  webhook_deliveries: `
    insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, attempt_count,
      last_status_code, last_attempt_at, arrival_ms, payload_scrubbed_at, created_at, updated_at)
    select 'whd_' || id, organization, true, 'evt_' || id, 'verification.session.succeeded',
      'whe_' || md5(organization::text), 'succeeded', 1, 200, at, 40, at, at, at from month`,
  events: `
    insert into events (id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at)
    select 'evt_' || id, organization, 'verification.session.succeeded', 'vs_' || id, true, 1, 'order-' || i, at from month`,
};

// --- reading ------------------------------------------------------------------------------------------------------

type Known = { organization: OrganizationId; session: SessionId; event: EventId; delivery: DeliveryId };
type Read = (db: Queryable, known: Known) => Promise<unknown>;

const tenant = ({ organization }: Known) =>
  ({ organizationId: organization, environment: "sandbox" }) as const;

function reads(now: Date): [string, Read][] {
  const from = later(now, -20 * dayMs);
  const to = later(now, -5 * dayMs);
  const sessions =
    (filter: Partial<Parameters<typeof listSessions>[2]>): Read =>
    (db, known) =>
      listSessions(
        db,
        tenant(known),
        {
          status: undefined,
          createdFrom: undefined,
          createdTo: undefined,
          clientReferenceId: undefined,
          startingAfter: undefined,
          ...filter,
          limit: 10,
        },
        now,
      );
  const attempts =
    (of: (known: Known) => SessionId | undefined): Read =>
    (db, known) =>
      listAttempts(
        db,
        tenant(known),
        { sessionId: of(known), status: undefined, limit: 10, startingAfter: undefined },
        now,
      );
  return [
    ["a session by its id", (db, known) => findSession(db, tenant(known), known.session)],
    ["its status, for the person's page", (db, known) => findStatus(db, known.session, now)],
    [
      "the session and its attempt, held",
      async (db, known) => {
        await db.rows(heldSession(tenant(known), known.session).statement);
        await db.rows(heldOpenAttempt(known.session).statement);
      },
    ],
    ["an event by its id", (db, known) => findEvent(db, tenant(known), known.event)],
    ["a delivery by its id", (db, known) => findDelivery(db, tenant(known), known.delivery, now)],
    ["sessions", sessions({})],
    ["sessions that succeeded", sessions({ status: "succeeded" })],
    ["sessions of some days", sessions({ createdFrom: from, createdTo: to })],
    ["sessions with a reference", sessions({ clientReferenceId: "order-7" })],
    ["attempts", attempts(() => undefined)],
    ["attempts of a session", attempts(({ session }) => session)],
    ["events", (db, known) => listEvents(db, tenant(known), { limit: 10 })],
    [
      "events of a type",
      (db, known) => listEvents(db, tenant(known), { limit: 10, type: "verification.session.succeeded" }),
    ],
    [
      "events of a session",
      (db, known) => listEvents(db, tenant(known), { limit: 10, sessionId: known.session }),
    ],
    [
      "events of some days",
      (db, known) => listEvents(db, tenant(known), { limit: 10, createdFrom: from, createdTo: to }),
    ],
    ["deliveries", (db, known) => listDeliveries(db, tenant(known), { limit: 10 }, now)],
    [
      "deliveries of an event",
      (db, known) => listDeliveries(db, tenant(known), { limit: 10, eventId: known.event }, now),
    ],
    ["audit entries", (db, known) => listAuditLogs(db, known.organization, { limit: 10 })],
    [
      "audit entries of a kind",
      (db, known) => listAuditLogs(db, known.organization, { limit: 10, event: "session.succeeded" }),
    ],
  ];
}

const readRounds = 15;
const readsARound = 20;

/**
 * The same month in one table and in parts, each read with plans that PostgreSQL chooses and with plans that are made once. What counts is the processor time of the backend,
 * by the kernel's clock, so that other work of the machine disturbs it little; the least of some rounds, and of both a busy and a quiet organization.
 */
export async function compareReads(adminUrl: string, rows: number, now: Date): Promise<void> {
  for (const name of Object.values(databases)) {
    const db = await createDatabase(adminUrl, name);
    if (name === databases.parts) await divideFor(db, later(now, -45 * dayMs), later(now, -5 * dayMs));
    await fillMonth(db, rows, later(now, -30 * dayMs));
    if (name === databases.parts)
      console.log(
        `\nReads from a month of ${rows.toLocaleString("en")} sessions, µs of the backend's processor time, the least of ${readRounds} rounds of ${readsARound}; ${((await listParts(db, "sessions")) ?? []).length} parts`,
      );
    await db.close();
  }
  await readBoth(adminUrl, now);
}

const databases = { one: "bench_one", parts: "bench_parts_reads" };

export async function readBoth(adminUrl: string, now: Date): Promise<void> {
  const side = async (name: string, database: string, planOnce: boolean, inStretches = false) => {
    const url = new URL(adminUrl);
    url.pathname = `/${database}`;
    if (planOnce) url.searchParams.set("options", "-c plan_cache_mode=force_generic_plan");
    const db = openDb({ url: url.href, poolSize: 1, onError: () => {} });
    if (inStretches) await heedParts(db, now);
    return { name, db, cpuUs: await cpuClockOf(db) };
  };
  const sides = [
    await side("one table", databases.one, false),
    await side("one, planned once", databases.one, true),
    await side("parts, all at once", databases.parts, true),
    await side("parts", databases.parts, true, true),
  ];
  console.log(`  ${"".padEnd(44)} ${sides.map(({ name }) => name.padStart(20)).join("")}`);
  for (const [name, read] of reads(now))
    for (const [who, organization] of [
      ["busy", 0],
      ["quiet", 77],
    ] as const) {
      const least = sides.map(() => Number.POSITIVE_INFINITY);
      const known = await knownRows(sides[0]?.db, organization);
      const ask = () =>
        Promise.all(sides.map(({ db }) => statementsOf(db, (queryable) => read(queryable, known))));
      // The first time a process does not know how far back a list reaches.
      const [askedAtFirst, asked] = [await ask(), await ask()];
      // Statements of a round are sent together, so that a machine with other work to do does not come between them.
      const readAll = (at: number, db: Db) => {
        const questions = Array.from({ length: readsARound }, () => (asked[at] ?? []).map(allRows)).flat();
        return db.transaction((tx) => tx.ask(...questions));
      };
      // The first six times PostgreSQL tries which plan is cheaper.
      for (const [at, { db }] of sides.entries()) await readAll(at, db);
      for (let round = 0; round < readRounds; round++)
        for (const [at, { db, cpuUs }] of sides.entries()) {
          const before = cpuUs();
          await readAll(at, db);
          least[at] = Math.min(least[at] ?? 0, (cpuUs() - before) / readsARound);
        }
      const [first = 1] = least;
      const moreAsked = (of: typeof asked) => (of.at(-1)?.length ?? 0) - (of[0]?.length ?? 0);
      const [several, severalAtFirst] = [moreAsked(asked), moreAsked(askedAtFirst)];
      console.log(
        `  ${`${name}, ${who}`.padEnd(44)} ${least.map((us) => `${us.toFixed(0)} (${(us / first).toFixed(2)})`.padStart(20)).join("")}${severalAtFirst > 0 ? `  ${several} more asked, at first ${severalAtFirst}` : ""}`,
      );
    }
  const memory: string[] = [];
  for (const { db } of sides) {
    const { bytes } = await db.one<{ bytes: number }>(
      sql`select sum(total_bytes)::bigint as bytes from pg_backend_memory_contexts`,
    );
    memory.push(`${(bytes / 2 ** 20).toFixed(1)} MiB`.padStart(20));
    await db.close();
  }
  console.log(`  ${"memory of the backend, at the end".padEnd(44)} ${memory.join("")}`);
}

/** What a read sends to this database: of a list in parts, as many stretches as it takes to fill a page. */
export async function statementsOf(
  db: Db,
  read: (db: Queryable) => Promise<unknown>,
  cutUp: Queryable["cutUp"] = db.cutUp,
): Promise<readonly Sql[]> {
  const sent: Sql[] = [];
  await db.transaction((tx) => {
    const rows = <T extends Row>(statement: Sql) => {
      sent.push(statement);
      return tx.rows<T>(statement);
    };
    const first = async <T extends Row>(statement: Sql) => (await rows<T>(statement))[0] ?? null;
    return read({
      rows,
      page: rows,
      first,
      lookUp: first,
      one: () => Promise.reject(new Error("nothing that is read here always gives a row")),
      enter: () => Promise.reject(new Error("nothing is written here")),
      run: () => Promise.reject(new Error("nothing is written here")),
      notify: () => {},
      cutUp,
    });
  });
  return sent;
}

async function knownRows(db: Db | undefined, organization: number): Promise<Known> {
  if (db === undefined) throw new Error("no database");
  const id = knownId<OrganizationId>(
    `00000000-0000-7000-8000-${organization.toString(16).padStart(12, "0")}`,
  );
  const some = async <T extends string>(table: string) => {
    const of = new Sql([table], []);
    return (
      await db.one<{ id: T }>(
        sql`select id from ${of} where organization_id = ${id} order by id offset 5 limit 1`,
      )
    ).id;
  };
  return {
    organization: id,
    session: await some<SessionId>("sessions"),
    event: await some<EventId>("events"),
    delivery: await some<DeliveryId>("webhook_deliveries"),
  };
}
