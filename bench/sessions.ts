import type { OrganizationId, SessionId } from "@assay/contract/ids";
import { type AttemptStatus, attemptStatuses, sessionStatuses } from "@assay/contract/sessions";
import { median } from "@assay/face/median";
import { type Db, openDb, type Queryable } from "../apps/server/src/platform/db/db.ts";
import { Quarantine } from "../apps/server/src/platform/db/quarantine.ts";
import { sql } from "../apps/server/src/platform/db/sql.ts";
import { type Clock, dayMs, hourMs } from "../apps/server/src/platform/kernel/clock.ts";
import { knownId } from "../apps/server/src/platform/kernel/ids.ts";
import { KeyRing, newRingKey } from "../apps/server/src/platform/lib/key-ring.ts";
import { createLog } from "../apps/server/src/platform/lib/log.ts";
import { Metrics } from "../apps/server/src/platform/lib/metrics.ts";
import { expireSessions } from "../apps/server/src/verification/sessions/expire-sessions.job.ts";
import { listAttempts, listSessions } from "../apps/server/src/verification/sessions/session.store.ts";
import { createDatabase } from "./support/database.ts";
import { idSql, loadBare } from "./support/fill.ts";
import { withPostgres } from "./support/with-postgres.ts";

const organizations = 1000;
const dueSessions = 100_000;

/**
 * `--rows N` sessions in the large table (ten million). `--only pages|expiry` runs one part. PostgreSQL runs
 * with the service's settings, durable.
 */
export async function run(options: readonly string[] = []): Promise<void> {
  const rows = Number(optionOf(options, "--rows") ?? 10_000_000);
  if (!Number.isInteger(rows) || rows < 1000) throw new Error("--rows must be a whole number from 1000 on");
  const only = optionOf(options, "--only");
  const now = new Date();
  await withPostgres(async ({ databaseUrl }) => {
    if (only === undefined || only === "pages") await comparePages(databaseUrl, rows, now);
    if (only === undefined || only === "expiry") await measureExpiry(databaseUrl);
  });
}

function optionOf(options: readonly string[], name: string): string | undefined {
  const at = options.indexOf(name);
  return at === -1 ? undefined : options[at + 1];
}

// --- pages -------------------------------------------------------------------------------------------------

async function comparePages(adminUrl: string, rows: number, now: Date): Promise<void> {
  const small = await seed(adminUrl, "bench_small", { rows: 1000, organizations: 1 }, now);
  const started = performance.now();
  const large = await seed(adminUrl, "bench_large", { rows, organizations }, now);
  console.log(
    `\nA page of 10 among ${rows.toLocaleString("en")} sessions of ${organizations} organizations against a page among 1,000 (loading took ${((performance.now() - started) / 1000).toFixed(0)} s)`,
  );
  console.log("  The first organization of the large table has a tenth of all sessions; `busy` asks there.");
  try {
    const others = await askersOf(
      large.db,
      Array.from({ length: 16 }, (_, i) => organizationId(1 + i * 50)),
    );
    const busiest = others.map(() => organizationId(0));
    const [smallAskers, first] = [await askersOf(small.db, busiest), await askersOf(large.db, busiest)];
    const lists = allLists(now);
    for (const { name, read: page } of lists) {
      const sides = {
        small: newSide(small.db, smallAskers),
        large: newSide(large.db, others),
        busy: newSide(large.db, first),
      };
      // The first times PostgreSQL tries which plan is cheaper.
      for (let round = -3; round < pageRounds; round++)
        for (const side of Object.values(sides)) await readPages(side, page, round >= 0);
      const [few, many, busy] = [sides.small, sides.large, sides.busy].map(({ us }) => median(us));
      console.log(
        `  ${name.padEnd(52)} ${few?.toFixed(0).padStart(5)} → ${many?.toFixed(0).padStart(5)} µs  ratio ${((many ?? 0) / (few ?? 1)).toFixed(2)}  busy ${((busy ?? 0) / (few ?? 1)).toFixed(2)}`,
      );
    }
    console.log("  goal: ratio at most 1.3 (medians by the clock)");
  } finally {
    await small.db.close();
    await large.db.close();
  }
}

const pageRounds = 20;

/** An organization, and the session from which a page continues. */
type Asker = { organization: OrganizationId; cursor: SessionId | undefined };
type Side = { db: Db; askers: readonly Asker[]; us: number[] };

function newSide(db: Db, askers: readonly Asker[]): Side {
  return { db, askers, us: [] };
}

async function askersOf(db: Db, ids: readonly OrganizationId[]): Promise<Asker[]> {
  const askers: Asker[] = [];
  for (const organization of ids) {
    const rows = await db.rows<{ id: SessionId }>(sql`
      select id from sessions where organization_id = ${organization} order by id desc limit 61`);
    // With few sessions, the middle one.
    const cursor = rows[rows.length > 60 ? 60 : Math.floor(rows.length / 2)]?.id;
    askers.push({ organization, cursor });
  }
  return askers;
}

/** A page of each organization, by the clock. */
async function readPages({ db, askers, us }: Side, page: ReadPage, record: boolean): Promise<void> {
  for (const asker of askers) {
    const from = performance.now();
    await page(db, asker);
    if (record) us.push((performance.now() - from) * 1000);
  }
}

type ReadPage = (db: Queryable, asker: Asker) => Promise<unknown>;

type List = { name: string; read: ReadPage };

const tenant = (organizationId: OrganizationId) => ({ organizationId, environment: "sandbox" }) as const;

function sessionsList(
  name: string,
  filter: Partial<Parameters<typeof listSessions>[2]>,
  now: Date,
  startOf: (asker: Asker) => {
    startingAfter?: SessionId | undefined;
    endingBefore?: SessionId | undefined;
  } = () => ({}),
): List {
  return {
    name,
    read: (db, asker) =>
      listSessions(db, tenant(asker.organization), { ...filter, limit: 10, ...startOf(asker) }, now),
  };
}

function attemptsList(status: AttemptStatus | undefined, now: Date): List {
  return {
    name: `attempts, ${status ?? "any status"}`,
    read: (db, { organization }) =>
      listAttempts(
        db,
        tenant(organization),
        { sessionId: undefined, status, limit: 10, startingAfter: undefined },
        now,
      ),
  };
}

function allLists(now: Date): List[] {
  const lists: List[] = [];
  const createdFrom = new Date(now.getTime() - 20 * dayMs);
  const createdTo = new Date(now.getTime() - 30 * 60_000);
  for (const reference of [{}, { clientReferenceId: "popular" }])
    for (const bounds of [{}, { createdFrom }, { createdTo }, { createdFrom, createdTo }])
      for (const status of [undefined, ...sessionStatuses]) {
        const name = [
          status ?? "any status",
          ...Object.keys(bounds),
          ...("clientReferenceId" in reference ? ["client_reference_id"] : []),
        ].join(", ");
        lists.push(sessionsList(name, { ...(status ? { status } : {}), ...bounds, ...reference }, now));
      }
  return [
    ...lists,
    sessionsList("page after a cursor far back", {}, now, ({ cursor }) => ({ startingAfter: cursor })),
    sessionsList("page before a cursor far back", {}, now, ({ cursor }) => ({ endingBefore: cursor })),
    sessionsList("metadata that all have", { metadata: { channel: "mobile" } }, now),
    sessionsList("metadata that few have", { metadata: { rare: "yes" } }, now),
    sessionsList("beginning of a reference that few have", { referencePrefix: "order-77" }, now),
    ...[undefined, ...attemptStatuses].map((status) => attemptsList(status, now)),
  ];
}

/** The same in every database, so that the large table has the small table's organization too. */
function organizationId(index: number): OrganizationId {
  return knownId(`00000000-0000-7000-8000-${index.toString(16).padStart(12, "0")}`);
}

/**
 * Sessions of the last 30 days, made inside PostgreSQL. Half are from the last hour, so that every filter has
 * a full page in both tables. A few older ones are due but not yet expired. A tenth belongs to the first
 * organization, the others are spread evenly; a fifth of all has the same reference.
 */
async function seed(
  adminUrl: string,
  name: string,
  size: { rows: number; organizations: number },
  now: Date,
): Promise<{ db: Db }> {
  const db = await createDatabase(adminUrl, name);
  await db.withConnection(async (client) => {
    await client.query("set synchronous_commit = off; set statement_timeout = 0");
    await loadBare(client, "sessions", () =>
      client.query(
        `insert into sessions (id, organization_id, status, failure_code, contract_version, share_fields, redirect_url,
        client_reference_id, metadata, sandbox, cancel_token_hash, expires_at, completed_at, created_at, updated_at)
      select ${idSql("vs_", "ms", "i")}, organization_id, status,
        case status when 'failed' then 'liveness_failed' end, 1,
        '{"date_of_birth":{"required":true,"reason":"We must know that you are of age.","source":"rc"}}',
        'https://shop.example.com/done', case reference when 0 then 'popular' when 1 then 'order-' || i end,
        case when i % 9973 = 0 then '{"channel":"mobile","rare":"yes"}'::json else '{"channel":"mobile"}' end, true, int8send(i), created_at + interval '1 hour',
        case when status not in ('created', 'in_progress') then created_at + interval '5 minutes' end, created_at,
        created_at
      from (
        select i, ms, to_timestamp(ms / 1000.0) as created_at, ${pick(1, 5)} as reference,
          ('00000000-0000-7000-8000-' || lpad(to_hex(case ${pick(2, 10)} when 0 then 0 else ${pick(3, "$2::int")} end), 12, '0'))::uuid
            as organization_id,
          case when ms > $3::bigint - ${hourMs}
              then (array['created', 'in_progress', 'created', 'succeeded', 'cancelled'])[1 + ${pick(4, 5)}]
            when ${pick(5, 500)} = 0 then (array['created', 'in_progress'])[1 + ${pick(6, 2)}]
            else (array['succeeded', 'succeeded', 'succeeded', 'failed', 'expired', 'cancelled'])[1 + ${pick(7, 6)}]
          end as status
        from (
          select i, case when i > $1::bigint * 0.5
              then $3::bigint - (${hourMs} * (1 - (i - $1::bigint * 0.5) / ($1::bigint * 0.5 + 1)))::bigint
              else $3::bigint - ${hourMs} - (${30 * dayMs} * (1 - i / ($1::bigint * 0.5)))::bigint end as ms
          from generate_series(1, $1::bigint) as i) as times) as kinds`,
        [size.rows, size.organizations, now.getTime()],
      ),
    );
    // A fifth of the sessions has an attempt; all of the small table, so that there are pages of every kind.
    await loadBare(client, "attempts", () =>
      client.query(
        `insert into attempts (id, session_id, organization_id, sandbox, status, failure_code, last_seen_at, session_expires_at,
        completed_at, created_at, updated_at)
      select 'va_' || substr(id, 4), id, organization_id, sandbox,
        case status when 'expired' then 'failed' when 'created' then 'in_progress' else status end,
        case status when 'failed' then 'liveness_failed' when 'expired' then 'session_expired' end, created_at, expires_at,
        completed_at, created_at, created_at
      from sessions where get_byte(cancel_token_hash, 7) < 51 or $1::bigint <= 1000`,
        [size.rows],
      ),
    );
    await client.query("vacuum analyze sessions");
    await client.query("vacuum analyze attempts");
    await client.query("checkpoint");
  });
  await db.close();
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { db: openDb({ url: url.href, poolSize: 1, onError: () => {} }) };
}

/** A number below `below` that looks random, for row `i`. */
function pick(seed: number, below: number | string): string {
  return `((hashint8extended(i, ${seed}) & 2147483647) % ${below})`;
}

// --- expiry ------------------------------------------------------------------------------------------------

async function measureExpiry(adminUrl: string): Promise<void> {
  for (const processes of [1, 2]) {
    const name = `bench_expiry_${processes}`;
    const now = new Date();
    const db = await createDatabase(adminUrl, name);
    await db.withConnection(async (client) => {
      await client.query(
        `insert into sessions (id, organization_id, status, contract_version, share_fields, metadata, sandbox,
          cancel_token_hash, expires_at, created_at, updated_at)
        select ${idSql("vs_", "$3::bigint", "i")}, ('00000000-0000-7000-8000-' || lpad(to_hex(i % 1000), 12, '0'))::uuid,
          case when i % 10 = 0 then 'in_progress' else 'created' end, 1, '{}', '{}', true, '',
          $2::timestamptz + interval '1 hour', $2, $2
        from generate_series(1, $1::bigint) as i`,
        [dueSessions, new Date(now.getTime() - hourMs), now.getTime() - hourMs],
      );
      await client.query(
        `insert into attempts (id, session_id, organization_id, sandbox, status, last_seen_at, session_expires_at, created_at,
          updated_at)
        select 'va_' || substr(id, 4), id, organization_id, sandbox, 'in_progress', created_at, expires_at, created_at, created_at
        from sessions where status = 'in_progress'`,
      );
      await client.query("vacuum analyze sessions");
      await client.query("vacuum analyze attempts");
    });
    const clock: Clock = { now: () => new Date() };
    const log = createLog({ level: "warn", write: (line) => process.stderr.write(line), now: clock.now });
    const quarantine = new Quarantine({ db, clock, log, metrics: new Metrics() });
    const started = performance.now();
    const expired = await Promise.all(
      Array.from({ length: processes }, async () => {
        const runBatch = expireSessions(
          { clock, ring: new KeyRing([newRingKey([])]), quarantine, publicUrl: () => "" },
          "expire-sessions",
        );
        let total = 0;
        for (let done = await runBatch(); done > 0; done = await runBatch()) total += done;
        return total;
      }),
    );
    const elapsed = (performance.now() - started) / 1000;
    const { events } = await db.one<{ events: number }>(
      sql`select count(*) as events from events where type = 'verification.session.expired'`,
    );
    const total = expired.reduce((sum, count) => sum + count, 0);
    if (total !== dueSessions || events !== dueSessions)
      throw new Error(
        `${total} sessions expired with ${events} events; there should be ${dueSessions} of both`,
      );
    console.log(
      `\nExpiry of ${dueSessions.toLocaleString("en")} sessions that are due at once, ${processes} at work: ${elapsed.toFixed(1)} s, ${Math.round(dueSessions / elapsed).toLocaleString("en")} sessions/s`,
    );
    await db.close();
  }
}
