import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../test/support/database.ts";
import { dumpSchema } from "./dump-schema.ts";

async function withDatabase(work: (client: pg.Client) => Promise<void>): Promise<void> {
  const database = await createTestDatabase();
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
  await withDatabase(async (client) => {
    const committed = await readFile(new URL("../../migrations/schema.sql", import.meta.url), "utf8");
    assert.equal(await dumpSchema(client), committed);
  });
});

const objects = [
  "create collation plain (provider = libc, locale = 'C')",
  "create type mood as enum ('good', 'bad')",
  "create domain short as text not null check (length(value) < 10)",
  "create sequence counter as int start 5",
  `create function touch() returns trigger language plpgsql as $$ begin new.n := 1; return new; end $$`,
  `create table parent (id bigint generated always as identity primary key, name text collate "C" not null)`,
  `create table thing (id uuid primary key, parent_id bigint references parent (id) on delete cascade, n int not null default 7,
     twice int generated always as (n * 2) stored, moods mood[] not null default '{}', at timestamptz(3),
     doc jsonb, constraint n_is_small check (n < 100), unique (parent_id, n))`,
  "create index thing_doc on thing using gin (doc)",
  "create unique index thing_live on thing (lower(doc ->> 'name')) where at is null",
  "create trigger touching before insert on thing for each row execute function touch()",
  "create view shown as select id, n from thing",
];

test("every kind of object is in the dump, under its name", async () => {
  await withDatabase(async (client) => {
    for (const statement of objects) await client.query(statement);
    const dump = await dumpSchema(client);
    for (const line of [
      "create collation plain (provider = libc, locale = 'C');",
      "create type mood as enum ('good', 'bad');",
      "create sequence counter as integer start 5 increment 1;",
      "  id bigint generated always as identity not null",
      '  name text collate "C" not null',
      "  n integer default 7 not null",
      "  twice integer generated always as ((n * 2)) stored",
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
    assert.match(dump, /^create view shown as$/m);
    // The identity's sequence and the indexes of constraints are shown by what owns them.
    assert.doesNotMatch(dump, /parent_id_seq|CREATE UNIQUE INDEX thing_pkey|not_null/);
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
    await withDatabase(async (client) => {
      for (const statement of statements) await client.query(statement);
      dumps.push(await dumpSchema(client));
    });
  }
  assert.equal(dumps[0], dumps[1]);
});

test("any change of a column, constraint, index, function or trigger changes the dump", async () => {
  await withDatabase(async (client) => {
    for (const statement of objects) await client.query(statement);
    let before = await dumpSchema(client);
    for (const change of [
      "alter table thing alter n drop default",
      "alter table thing alter n drop not null",
      "alter table thing alter at type timestamptz",
      "alter table thing drop constraint n_is_small",
      "alter type mood add value 'odd'",
      "drop index thing_doc",
      "drop trigger touching on thing",
      "create or replace function touch() returns trigger language plpgsql as $$ begin return new; end $$",
      "drop view shown",
    ]) {
      await client.query(change);
      const changed = await dumpSchema(client);
      assert.notEqual(changed, before, change);
      before = changed;
    }
  });
});
