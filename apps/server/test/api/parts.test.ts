import assert from "node:assert/strict";
import test from "node:test";
import type { SessionId } from "@assay/contract/ids";
import type pg from "pg";
import { checkSchema, listMigrations, migrate } from "../../src/db/migrate.ts";
import { divideTable, dropParts, listParts } from "../../src/db/parts.store.ts";
import { Sql, sql } from "../../src/db/sql.ts";
import { dayMs, hourMs, later, minuteMs } from "../../src/kernel/clock.ts";
import { idFloor, newId, newUuid } from "../../src/kernel/ids.ts";
import { hardDeleteStep } from "../../src/organizations/hard-delete.job.ts";
import { growingTable, growingTables } from "../../src/retention/divided-tables.store.ts";
import { keepParts } from "../../src/retention/keep-parts.job.ts";
import { createPartner, expectData } from "../support/api.ts";
import { startTestService } from "../support/service.ts";
import { claimed, createSession, succeed } from "../support/sessions.ts";

const { api, clock, core, runJob, databaseUrl } = await startTestService({
  config: { databaseParts: "all" },
});
const { db } = core;
const partner = await createPartner(api);
const keep = () => runJob("keep-parts");
const named = (text: string) => new Sql([text], []);

/** Everything that a table holds, as one text. */
async function contents(table: string): Promise<string> {
  const { rows } = await db.one<{ rows: string }>(
    sql`select coalesce(json_agg(t order by t::text), '[]')::text as rows from ${named(table)} t`,
  );
  return rows;
}

async function partsOf(table: string): Promise<string[]> {
  return ((await listParts(db, table)) ?? []).map((part) => part.name);
}

/** Whether no table is divided. */
const inOnePiece = async () =>
  (await Promise.all(growingTables.map(({ table }) => listParts(db, table)))).every(
    (parts) => parts === null,
  );

const find = async (id: SessionId) => (await partner.api.get(`/v1/sessions/${id}`)).status;

test("nothing is divided while code runs that would delete rows of others, and such code cannot be started any more before anything is", async () => {
  // What a release from before 0083 writes, and one from after it, of the same version as ours.
  const older = listMigrations().filter(({ name }) => name < "0085");
  for (const code of [null, 84]) {
    const id = newUuid(clock.now());
    await db.run(sql`
      insert into process_reports (id, name, role, version, code_version, started_at, seen_at, report)
      select ${id}, 'older', 'api', version, ${code}::integer, ${clock.now()}, ${clock.now()}, '{}' from process_reports limit 1`);
    await keep();
    await keep();
    assert.ok(await inOnePiece());
    await checkSchema(databaseUrl, { migrations: older });
    await db.run(sql`delete from process_reports where id = ${id}`);
  }
  await keep();
  assert.ok(await inOnePiece(), "one that was starting meanwhile has until the next run to report itself");
  await assert.rejects(checkSchema(databaseUrl, { migrations: older }), /contains migration 0085/);
  await assert.rejects(migrate(databaseUrl, { migrations: older }), /contains migration 0085/);
  await checkSchema(databaseUrl);
});

test("a process that dies anywhere while it divides a table leaves one that takes rows, and another goes on", async () => {
  await createSession(partner.api);
  const table = growingTable("sessions");
  const before = await contents("sessions");
  let statements = 0;
  // Each of the first steps, and then here and there in the exchange, which is one transaction.
  for (let dies = 1; ; dies += dies < 14 ? 1 : 11) {
    const outcome = await db
      .withConnection(async (client) => {
        statements = 0;
        const dying = new Proxy(client, {
          get: (target, name) =>
            name !== "query"
              ? Reflect.get(target, name)
              : async (...query: unknown[]) => {
                  statements += 1;
                  // The connection goes with the process; nothing is undone by hand.
                  if (statements >= dies) throw new Error("killed");
                  return Reflect.apply(target.query, target, query);
                },
        });
        await divideTable(dying as pg.ClientBase, table, table.alsoInParts, clock.now(), 10_000);
        return "divided" as const;
      })
      .catch((error: Error) => error.message);
    assert.equal(await contents("sessions"), before, `killed at statement ${dies}`);
    if (outcome === "divided") break;
    assert.equal(outcome, "killed");
  }
  assert.ok(statements > 30);
  assert.equal(await find(await createSession(partner.api)), 200);
});

test("a table that was left half divided until its end came near is begun anew", async () => {
  const table = growingTable("consents");
  await db.run(
    sql`alter table consents add constraint consents_ends_before check (session_id < 'vs_0') not valid`,
  );
  await db.withConnection((client) => divideTable(client, table, [], clock.now(), 10_000));
  assert.deepEqual(await partsOf("consents"), ["consents_before", "consents_rest"]);
});

test("where the process that was dividing a table is gone, those that only answer requests keep it taking rows", async () => {
  const alone = await startTestService({ role: "api" });
  const other = await createPartner(alone.api);
  const check = `check (id < '${idFloor("vs", later(alone.clock.now(), 2 * dayMs))}') not valid`;
  await alone.core.db.run(named(`alter table sessions add constraint sessions_ends_before ${check}`));
  const isThere = async () =>
    (await alone.core.db.rows(sql`select from pg_constraint where conname = 'sessions_ends_before'`))
      .length === 1;
  await alone.runJob("watch-parts");
  assert.ok(await isThere(), "whoever divides the table has time");
  alone.clock.advance(40 * hourMs);
  await alone.runJob("watch-parts");
  assert.ok(!(await isThere()));
  alone.clock.advance(dayMs);
  await createSession(other.api);
});

test("all tables that grow are divided with what they hold, keep their rules, and two processes do it once", async () => {
  const tables = growingTables.map(({ table }) => table);
  const before = await Promise.all(tables.map(contents));
  await Promise.all([keep(), keep()]);
  assert.deepEqual(await Promise.all(tables.map(contents)), before);
  for (const { table } of growingTables) {
    const [first, ...others] = await partsOf(table);
    assert.equal(first, `${table}_before`);
    assert.equal(others.at(-1), `${table}_rest`);
    assert.ok(others.length > 1, table);
    // Of every part: the same columns that are not sampled, options, checks and, but for what only parts have, indexes.
    const shapes = await db.rows<{ name: string; shape: string }>(sql`
      select c.relname as name, json_build_array(c.reloptions,
        array(select attname from pg_attribute a where attrelid = c.oid and attstattarget = 0 order by 1),
        array(select conname || pg_get_constraintdef(k.oid) from pg_constraint k where conrelid = c.oid and contype = 'c' order by 1),
        array(select tgname from pg_trigger t where tgrelid = c.oid order by 1),
        array(select regexp_replace(pg_get_indexdef(indexrelid), '.* USING ', '') || indisunique from pg_index where indrelid = c.oid
          and pg_get_indexdef(indexrelid) !~ 'completed_at > expires_at' order by 1))::text as shape
      from pg_class c join pg_inherits i on i.inhrelid = c.oid where i.inhparent = ${table}::regclass`);
    const [one] = shapes;
    for (const each of shapes)
      assert.equal(
        each.shape.replaceAll(" NOT VALID", ""),
        one?.shape.replaceAll(" NOT VALID", ""),
        each.name,
      );
  }
  const plans = () =>
    db.one<{ mode: string }>(sql`select current_setting('plan_cache_mode') as mode`).then(({ mode }) => mode);
  assert.equal(await plans(), "auto");
  await runJob("watch-parts");
  assert.equal(await plans(), "force_generic_plan", "statements about parts are planned once");
  assert.match(core.metrics.render(), /^assay_parts_ahead_seconds\{table="sessions"\} \d+/m);
});

test("a row is never refused: what no part is there for goes into the rest, and later parts begin behind it", async () => {
  clock.advance(400 * dayMs);
  const id = await createSession(partner.api);
  assert.deepEqual(await db.rows(sql`select id from sessions_rest`), [{ id }]);
  await keep();
  const parts = (await listParts(db, "sessions")) ?? [];
  const dated = parts.flatMap((part) => (part.kind === "dated" ? [part.from] : []));
  assert.ok(dated.length >= 1 && dated.every((from) => from > clock.now()), "parts of 400 days ago are gone");
  assert.equal(await find(id), 200);
});

test("a list shows what has an id from the time ahead, once a process has looked", async () => {
  await keep();
  const now = clock.now();
  const older = await createSession(partner.api);
  clock.advance(9 * dayMs);
  const ahead = await createSession(partner.api);
  clock.set(now);
  await runJob("watch-parts");
  const newest = expectData(await partner.api.get("/v1/sessions", { limit: 2 }));
  assert.deepEqual(
    newest.map((session: { id: SessionId }) => session.id),
    [ahead, older],
  );
  await db.run(sql`delete from sessions where id = ${ahead}`);
});

test("a part goes as a whole when all of its time is over, and leaves what is still owed with all that belongs to it", async () => {
  clock.advance(10 * dayMs);
  await keep();
  const [old, open, late] = [
    await createSession(partner.api),
    await createSession(partner.api),
    await createSession(partner.api),
  ];
  for (const id of [old, late]) await succeed(core, id, await claimed(core, id));
  // Nobody can write down that this one has expired.
  await db.run(sql`
    insert into set_aside_rows (job, kind, row_id, reason, first_at, last_at, tries, retry_at)
    values ('expire-sessions', 'sessions', ${open}, 'a test', ${clock.now()}, ${clock.now()}, 1, ${later(clock.now(), 900 * dayMs)})`);
  const part = (
    await db.one<{ name: string }>(
      sql`select tableoid::regclass::text as name from sessions where id = ${old}`,
    )
  ).name;
  assert.match(part, /^sessions_from_\d{8}$/);
  const made = clock.now();
  // One ended anew later, as a withdrawal does.
  clock.advance(20 * dayMs);
  await db.run(sql`update sessions set completed_at = ${clock.now()} where id = ${late}`);
  clock.set(later(made, 30 * dayMs + hourMs));
  await runJob("purge-sessions");
  assert.equal(await find(old), 200, "a session goes with its part, not before");
  clock.advance(7 * dayMs);
  await keep();
  assert.ok(!(await partsOf("sessions")).includes(part));
  assert.deepEqual([await find(old), await find(open), await find(late)], [404, 200, 200]);
  const attempts = await db.rows<{ session_id: string }>(sql`
    select session_id from attempts where session_id in (${old}, ${late})`);
  assert.deepEqual(attempts, [{ session_id: late }]);
  const younger = await createSession(partner.api);
  // What was left goes by itself when its time has come.
  clock.advance(14 * dayMs);
  await runJob("purge-sessions");
  assert.deepEqual([await find(late), await find(younger)], [404, 200]);
  assert.deepEqual(await db.rows(sql`select from attempts where session_id = ${late}`), []);
});

test("many parts that nobody has dropped in time go with one run, and leave what is still owed in each of them", async () => {
  const keepLonger = keepParts({ ...core, config: { ...core.config, sessionRetentionDays: 150 } });
  const gone: SessionId[] = [];
  const owed: SessionId[] = [];
  for (let week = 0; week < 10; week++) {
    await keepLonger();
    for (const list of [gone, owed]) {
      const id = await createSession(partner.api);
      await succeed(core, id, await claimed(core, id));
      list.push(id);
    }
    clock.advance(7 * dayMs);
  }
  const parts = await db.rows<{ name: string }>(
    sql`select distinct tableoid::regclass::text as name from sessions where id = any(${gone}::text[])`,
  );
  assert.equal(parts.length, 10);
  clock.advance(31 * dayMs);
  await db.run(sql`update sessions set completed_at = ${clock.now()} where id = any(${owed}::text[])`);
  await keep();
  const left = await partsOf("sessions");
  assert.deepEqual(
    parts.filter(({ name }) => left.includes(name)),
    [],
  );
  const kept = await db.rows<{ session_id: SessionId }>(sql`
    select session_id from attempts where session_id = any(${[...gone, ...owed]}::text[]) order by session_id`);
  assert.deepEqual(
    kept.map((row) => row.session_id),
    owed,
  );
  for (const id of gone) assert.equal(await find(id), 404);
  for (const id of owed) assert.equal(await find(id), 200);
});

test("what is still owed is found by an index in a part of any size, as everybody waits for the table meanwhile", async () => {
  const plans: string[] = [];
  for (const table of growingTables) {
    const part = (await listParts(db, table.table))?.find((each) => each.kind === "dated");
    assert.ok(part?.kind === "dated");
    await db.transaction(async (tx) => {
      await tx.run(sql`set local enable_seqscan = off`);
      for (const statement of table.settle(part, clock.now(), clock.now())(part.name))
        for (const line of await tx.rows<{ "QUERY PLAN": string }>(named(`explain ${statement}`)))
          plans.push(line["QUERY PLAN"]);
    });
  }
  assert.ok(plans.length > 10);
  assert.deepEqual(
    plans.filter((line) => line.includes("Seq Scan")),
    [],
  );
  const table = growingTable("audit_logs");
  const dated = ((await listParts(db, "audit_logs")) ?? []).findLast((each) => each.kind === "dated");
  assert.ok(dated !== undefined);
  const setting = "create table seen as select current_setting('enable_seqscan') as setting";
  const settled = [{ name: dated.name, settle: () => [setting] }];
  await db.withConnection((client) => dropParts(client, table, settled, 10_000));
  assert.deepEqual(await db.rows(sql`select setting from seen`), [{ setting: "off" }]);
  await db.run(sql`drop table seen`);
});

test("attempts that began after midnight go with their session", async () => {
  await keep();
  const parts = (await listParts(db, "sessions")) ?? [];
  const next = parts.find((part) => part.kind === "dated" && part.from > clock.now());
  assert.ok(next?.kind === "dated");
  clock.set(later(next.to, -10 * minuteMs));
  await keep();
  const id = await createSession(partner.api);
  clock.advance(20 * minuteMs);
  await succeed(core, id, await claimed(core, id));
  const place = sql`select tableoid::regclass::text as name from attempts where session_id = ${id}`;
  assert.notEqual(
    (await db.one<{ name: string }>(place)).name.replace("attempts", ""),
    next.name.replace("sessions", ""),
  );
  clock.set(later(next.to, 30 * dayMs + hourMs));
  await keep();
  assert.equal(await find(id), 404);
  assert.deepEqual(await db.rows(place), []);
});

test("a delivery that is being sent outlives its part, one that waits does not, and nothing of them is left in other tables", async () => {
  await keep();
  clock.advance(8 * dayMs);
  await keep();
  const now = clock.now();
  const rows = ["sent", "waits"].map((name) => ({ name, id: newId("whd", now) }));
  for (const { id, name } of rows) {
    await db.run(sql`
      insert into webhook_deliveries (id, organization_id, sandbox, event_id, event_type, endpoint_id, status, attempt_count, payload, created_at, updated_at)
      values (${id}, ${partner.organizationId}, true, ${newId("evt", now)}, 'webhook.endpoint.test', 'whe_1', 'pending', 1, '\\x00', ${now}, ${now})`);
    await db.run(sql`
      insert into webhook_delivery_queue (organization_id, sandbox, delivery_id, endpoint_id, due_at, tries_used, lease_number, lease_until, scrubbed, changed_at)
      values (${partner.organizationId}, true, ${id}, 'whe_1', ${later(now, 90 * dayMs)}, 0, 1, ${name === "sent" ? later(now, 90 * dayMs) : null}, false, ${now})`);
    await db.run(sql`
      insert into webhook_attempts (id, delivery_id, organization_id, duration_ms, attempted_at)
      values ('wha_1', ${id}, ${partner.organizationId}, 1, ${now})`);
    await db.run(sql`
      insert into webhook_exchanges (delivery_id, attempt_id, organization_id, signature, standard_signature, answer_is_cut)
      values (${id}, 'wha_1', ${partner.organizationId}, '', '', false)`);
  }
  const [sent] = rows;
  clock.advance(38 * dayMs);
  await keep();
  const ids = rows.map(({ id }) => id);
  assert.deepEqual(await db.rows(sql`select id from webhook_deliveries where id = any(${ids}::text[])`), [
    { id: sent?.id },
  ]);
  assert.deepEqual(
    await db.rows(
      sql`select delivery_id as id from webhook_delivery_queue where delivery_id = any(${ids}::text[])`,
    ),
    [{ id: sent?.id }],
  );
  assert.deepEqual(
    await db.rows(sql`select from webhook_attempts where delivery_id = ${rows[1]?.id ?? ""}`),
    [],
  );
  assert.deepEqual(
    await db.rows(sql`select from webhook_exchanges where delivery_id = ${rows[1]?.id ?? ""}`),
    [],
  );
});

test("an organization that is deleted takes no row of another, though rows of several parts have the same place", async () => {
  await keep();
  const [gone, stays] = [await createPartner(api), await createPartner(api)];
  const kept: SessionId[] = [];
  for (let week = 0; week < 3; week++) {
    // In the place that the one has in a part, the other has its row in the next.
    if (week % 2 === 0) await createSession(gone.api);
    kept.push(await createSession(stays.api));
    if (week % 2 === 1) await createSession(gone.api);
    clock.advance(7 * dayMs);
    await keep();
  }
  const sessions = (of: { organizationId: string }) =>
    db.rows<{ id: SessionId }>(
      sql`select id from sessions where organization_id = ${of.organizationId} order by id`,
    );
  assert.equal((await sessions(gone)).length, 3);
  await db.run(
    sql`update organizations set pending_deletion_at = ${clock.now()} where id = ${gone.organizationId}`,
  );
  while ((await hardDeleteStep(core, "delete-organizations")) > 0);
  assert.deepEqual(await sessions(gone), []);
  assert.deepEqual(
    (await sessions(stays)).map(({ id }) => id),
    kept,
  );
  assert.equal(expectData(await stays.api.get("/v1/sessions")).length, 3);
});
