import assert from "node:assert/strict";
import test from "node:test";
import { listMigrations } from "../../src/platform/db/migrate.ts";
import { numberOf } from "../../src/platform/db/schema-version.ts";
import { faultsOf, lastOfHistory } from "../support/migration-rules.ts";

test("a release only adds to the schema; what takes something away says since when no code needs it", () => {
  const faults = listMigrations()
    .filter((migration) => numberOf(migration) > lastOfHistory)
    .flatMap((migration) => faultsOf(migration).map((fault) => `${migration.name} ${fault}`));
  assert.deepEqual(faults, []);
});

const expand = "-- phase: expand\n";
/** Each with a word of the complaint that must follow. */
const refused: readonly [text: string, complaint: RegExp][] = [
  ["alter table a add column b integer;", /says neither/],
  ["-- phase: contract\ndrop table a;", /says neither/],
  ["-- phase: contract, code since 0090\ndrop table a;", /its own release/],
  [`${expand}drop table a;`, /drops/],
  [`${expand}drop index a_b;`, /drops an index/],
  [`${expand}alter table a drop column b;`, /drops a column/],
  [`${expand}alter table a drop b;`, /drops a column/],
  [`${expand}alter table a add column c integer,\n  drop constraint b;`, /drops a column or a constraint/],
  [`${expand}alter table a rename to b;`, /renames/],
  [`${expand}alter table a rename column b to c;`, /renames/],
  [`${expand}alter table a alter column b type bigint;`, /type/],
  [`${expand}alter table a alter b set data type bigint;`, /type/],
  [`${expand}alter table a alter column b set not null;`, /null/],
  [`${expand}alter table a alter column b drop default;`, /default/],
  [`${expand}alter table a add column b integer not null;`, /does not fill/],
  [`${expand}alter table a add column b timestamptz default clock_timestamp();`, /computed default/],
  [`${expand}alter table a add column b uuid references c (id);`, /with a constraint/],
  [`${expand}alter table a add constraint b check (c > 0);`, /without `not valid`/],
  [`${expand}alter table a add unique (b);`, /without `not valid`/],
  [`${expand}create index a_b on a (b);`, /without `concurrently`/],
  [`${expand}create unique index a_b on a (b);`, /without `concurrently`/],
  [`${expand}create index concurrently if not exists a_b on a (b);`, /transaction: none/],
  [`${expand}-- transaction: none\ncreate index concurrently a_b on a (b);`, /cannot be repeated/],
  [`${expand}-- transaction: none\nalter table a add column b integer;`, /cannot be repeated/],
  [`${expand}update a set b = 1;`, /whole table/],
  [`${expand}insert into a select * from b;`, /copies/],
  [`${expand}delete from a;`, /deletes/],
  [`${expand}lock table a;`, /locks/],
];
const taken: readonly string[] = [
  `${expand}create table a (b integer not null unique);\ncreate index a_b on a (b);\ninsert into a select 1;`,
  `${expand}alter table a add column b integer, add column c text not null default 'x';`,
  `${expand}alter table a add constraint b check (c > 0) not valid;`,
  `${expand}-- small: a\nupdate a set b = 1;\ncreate index a_b on a (b);`,
  `${expand}-- transaction: none\ncreate index concurrently if not exists a_b on a (b);\nalter table a validate constraint c;`,
  `${expand}create or replace function f() returns integer language sql as $$ delete from a; select 1 $$;`,
  `${expand}drop trigger t on a;\ncreate trigger t after insert on a execute function f();`,
  "-- phase: contract, code since 0083\nalter table a drop column b;\ndrop table c;",
];

test("what would fail or hold up a process of the release before is refused", () => {
  for (const [text, complaint] of refused)
    assert.match(faultsOf({ name: "0090_x.sql", text }).join("\n"), complaint, text);
  for (const text of taken) assert.deepEqual(faultsOf({ name: "0090_x.sql", text }), [], text);
});
