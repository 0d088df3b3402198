import assert from "node:assert/strict";
import test from "node:test";
import { describeSchemaProblem, readHeader, schemaProblem } from "./schema-version.ts";
import { splitStatements } from "./split-statements.ts";

const expand = (name: string) => ({ name, text: "-- phase: expand\nselect 1;" });
const contract = (name: string, since: string) => ({
  name,
  text: `-- phase: contract, code since ${since}\nselect 1;`,
});
const applied = (name: string, minCode: number | null = null) => ({ name, minCode });
const described = (...given: Parameters<typeof schemaProblem>) => {
  const problem = schemaProblem(...given);
  return problem === null ? null : describeSchemaProblem(problem);
};

test("code works on a schema that has all that it adds, with or without what it takes away", () => {
  const known = [
    { name: "0081_old.sql", text: "select 1" },
    expand("0083_a.sql"),
    contract("0084_b.sql", "0081"),
  ];
  assert.equal(described(known, [applied("0081_old.sql"), applied("0083_a.sql")]), null);
  assert.equal(
    described(known, [applied("0081_old.sql"), applied("0083_a.sql"), applied("0084_b.sql", 81)]),
    null,
  );
  assert.equal(described(known, [applied("0083_a.sql")]), "migrations are missing: 0081_old.sql");
  assert.equal(described(known, [applied("0081_old.sql")]), "migrations are missing: 0083_a.sql");
});

test("code works on a newer schema until something is taken away that it needs", () => {
  const known = [expand("0083_a.sql")];
  const newer = [applied("0083_a.sql"), applied("0090_more.sql")];
  assert.equal(described(known, newer), null);
  assert.equal(described(known, [...newer, applied("0091_less.sql", 83)]), null);
  assert.equal(
    described(known, [...newer, applied("0091_less.sql", 84)]),
    "the database is too new for this release: it needs a release with migration 0084, and this one ends with 0083",
  );
});

test("what a migration says about itself is read from the comments at its beginning, and nowhere else", () => {
  const text =
    "-- Why it is there.\n-- phase: contract, code since 0083\n-- transaction: none\n-- small: a, b\ndrop table c;\n-- phase: expand\n";
  assert.deepEqual(readHeader(text), {
    phase: "contract",
    codeSince: 83,
    inTransaction: false,
    smallTables: ["a", "b"],
  });
  assert.equal(readHeader("select 1;\n-- phase: expand").phase, null);
  assert.equal(readHeader("-- phase: contract\n").phase, null);
});

test("statements are told apart by their semicolons, and not by those in comments, texts and functions", () => {
  const text =
    "-- one; two\ncreate table a (b text default 'x;''y'); /* ; */\ncreate function f() returns void language plpgsql as $$ begin; end $$;\nselect \";\", $b$;$$;$b$";
  assert.deepEqual(
    splitStatements(text).map((statement) => statement.split(" ").slice(0, 2).join(" ")),
    ["create table", "create function", 'select ";",'],
  );
});
