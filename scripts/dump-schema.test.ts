import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../apps/server/test/support/database.ts";
import { dumpSchema } from "./dump-schema.ts";

async function withDatabase(
  { empty }: { empty: boolean },
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const database = await createTestDatabase({ empty });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
    await database.drop();
  }
}

test("the committed schema is what the migrations make (npm run generate writes it)", async () => {
  await withDatabase({ empty: false }, async (client) => {
    const committed = await readFile(
      new URL("../apps/server/migrations/schema.sql", import.meta.url),
      "utf8",
    );
    assert.equal(await dumpSchema(client), committed);
  });
});

const objects = [
  "create collation plain (provider = libc, locale = 'C')",
  "create sequence counter as int start 5",
  `create function touch() returns trigger language plpgsql as $$ begin new.n := 1; return new; end $$`,
  `create table parent (id bigint primary key, name text collate "C" not null)`,
  `create table thing (id uuid primary key, parent_id bigint references parent (id) on delete cascade, n int not null default 7,
     at timestamptz(3),
     doc jsonb, constraint n_is_small check (n < 100), unique (parent_id, n))`,
  "create index thing_doc on thing using gin (doc)",
  "create unique index thing_live on thing (lower(doc ->> 'name')) where at is null",
  "create trigger touching before insert on thing for each row execute function touch()",
];

test("every kind of object that the migrations use is in the dump, under its name", async () => {
  await withDatabase({ empty: true }, async (client) => {
    for (const statement of objects) await client.query(statement);
    const dump = await dumpSchema(client);
    for (const line of [
      "create collation plain (provider = libc, locale = 'C');",
      "create sequence counter as integer start 5 increment 1;",
      "  id bigint not null",
      '  name text collate "C" not null',
      "  n integer default 7 not null",
      "  at timestamp(3) with time zone",
      "  constraint n_is_small CHECK ((n < 100))",
      "  constraint thing_parent_id_n_key UNIQUE (parent_id, n)",
      "  constraint thing_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES parent(id) ON DELETE CASCADE",
    ]) {
      assert.ok(dump.split(/,?\n/).includes(line), `${line}\n is not in\n${dump}`);
    }
    assert.match(dump, /^CREATE INDEX thing_doc ON public\.thing USING gin \(doc\);$/m);
    assert.match(dump, /^CREATE UNIQUE INDEX thing_live .* WHERE \(at IS NULL\);$/m);
    assert.match(dump, /^CREATE TRIGGER touching BEFORE INSERT/m);
    assert.match(dump, /^CREATE OR REPLACE FUNCTION public\.touch\(\)/m);
    // Indexes of constraints are listed as constraints.
    assert.doesNotMatch(dump, /CREATE UNIQUE INDEX thing_pkey|not_null/);
  });
});

test("the order in which objects were made does not show", async () => {
  const dumps: string[] = [];
  const independent = [
    "create table b (x int)",
    "create table a (x int)",
    "create index b2 on b (x)",
    "create index b1 on b (x)",
  ];
  for (const statements of [independent, [1, 0, 3, 2].map((i) => independent[i] ?? "")]) {
    await withDatabase({ empty: true }, async (client) => {
      for (const statement of statements) await client.query(statement);
      dumps.push(await dumpSchema(client));
    });
  }
  assert.equal(dumps[0], dumps[1]);
});

test("any change of a column, constraint, index, function or trigger changes the dump", async () => {
  await withDatabase({ empty: true }, async (client) => {
    for (const statement of objects) await client.query(statement);
    let before = await dumpSchema(client);
    for (const change of [
      "alter table thing alter n drop default",
      "alter table thing alter n drop not null",
      "alter table thing alter at type timestamptz",
      "alter table thing drop constraint n_is_small",
      "drop index thing_doc",
      "drop trigger touching on thing",
      "create or replace function touch() returns trigger language plpgsql as $$ begin return new; end $$",
      "drop sequence counter",
    ]) {
      await client.query(change);
      const changed = await dumpSchema(client);
      assert.notEqual(changed, before, change);
      before = changed;
    }
  });
});

test("an object of a kind that the dump does not show is refused by its name", async () => {
  await withDatabase({ empty: true }, async (client) => {
    for (const statement of objects) await client.query(statement);
    for (const [made, name] of [
      ["create view shown as select id, n from thing", "relation shown"],
      ["create materialized view kept as select id from thing", "relation kept"],
      ["create type mood as enum ('good', 'bad')", "type mood"],
      ["create domain short as text check (length(value) < 10)", "type short"],
      ["create type pair as (a int, b int)", "relation pair"],
      ["create unlogged table passing (x int)", "relation passing"],
      ["create table parts (x int) partition by range (x)", "relation parts"],
      ["create table heir () inherits (parent)", "relation parent"],
      ["alter table thing enable row level security", "relation thing"],
      ["create rule quiet as on delete to thing do instead nothing", "relation thing"],
      ["alter table thing add m int generated always as (n * 2) stored", "column thing.m"],
      ["alter table thing add i bigint generated always as identity", "column thing.i"],
      ["create aggregate total (int) (sfunc = int4pl, stype = int)", "function total"],
    ] as const) {
      await client.query("begin");
      await client.query(made);
      await assert.rejects(dumpSchema(client), { message: new RegExp(`: ${name}$`) }, made);
      await client.query("rollback");
    }
    await dumpSchema(client);
  });
});
