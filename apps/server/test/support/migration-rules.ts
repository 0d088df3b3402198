import { numberOf, readHeader } from "../../src/platform/db/schema-version.ts";
import { splitStatements } from "../../src/platform/db/split-statements.ts";

/** Up to here migrations were applied while no process ran. */
export const lastOfHistory = 81;

/** What makes a process of the previous release fail. Only a contracting migration may do it. */
const takesAway: readonly [pattern: RegExp, what: string][] = [
  [/^drop (?:table|view|function|procedure|sequence|type|collation|trigger)\b/, "drops something"],
  [/^drop index (?!concurrently)/, "drops an index while others wait"],
  [/^alter table\b.*\bdrop (?:column|constraint)\b/, "drops a column or a constraint"],
  [/^alter table\b.*\bdrop (?!column|constraint|default|not null|expression|identity)\w+/, "drops a column"],
  [/^alter (?:table|index|function|sequence|type)\b.*\brename\b/, "renames something"],
  [/^alter table\b.*\balter (?:column )?\w+ (?:set data )?type\b/, "changes the type of a column"],
  [/^alter table\b.*\bset not null\b/, "forbids null to code that writes it"],
  [/^alter table\b.*\balter (?:column )?\w+ drop default\b/, "takes away a default that code leans on"],
  [/^(?:truncate|delete)\b/, "deletes rows"],
];

/** Statements that block others or read a whole table, unless the table is small or new. */
const holdsUp: readonly [pattern: RegExp, what: string][] = [
  [/^create (?:unique )?index (?!concurrently)/, "makes an index without `concurrently`"],
  [/^update\b/, "writes a whole table in one transaction"],
  [/^insert into\b.*\bselect\b/, "copies a table in one transaction"],
  [
    /^alter table\b.*\badd (?:constraint\b|check\b|foreign\b|unique\b|primary\b|exclude\b)(?!.*\bnot valid\b)/,
    "adds a constraint without `not valid`",
  ],
  [
    /^alter table\b.*\badd (?:column )?(?!constraint|check|foreign|unique|primary|exclude)[^,]*\b(?:references|check|unique|primary key)\b/,
    "adds a column with a constraint",
  ],
  [
    /^alter table\b.*\badd (?:column )?[^,]*\bdefault (?!null\b|true\b|false\b|-?[\d.]+|')/,
    "adds a column with a computed default",
  ],
  [/^(?:cluster|vacuum full|reindex(?!.*concurrently)|lock)\b/, "locks a table for long"],
];

/** Those that may be repeated after they were interrupted. */
const repeatable =
  /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists|alter table \w+ validate constraint)\b/;

/** Why this migration could break or block a process of the previous release; empty if it cannot. */
export function faultsOf(migration: { name: string; text: string }): string[] {
  const { phase, codeSince, inTransaction, smallTables } = readHeader(migration.text);
  if (phase === null)
    return ["says neither `-- phase: expand` nor `-- phase: contract, code since NNNN` at its beginning"];
  const faults: string[] = [];
  if (codeSince !== null && codeSince >= numberOf(migration))
    faults.push("removes what code of its own release still needs");
  const statements = splitStatements(migration.text).map((statement) =>
    statement.replace(/\s+/g, " ").toLowerCase(),
  );
  const free = new Set(smallTables);
  for (const statement of statements) {
    const made = /^create table (?:if not exists )?(\w+)/.exec(statement)?.[1];
    if (made !== undefined) free.add(made);
    const begins = statement.slice(0, 60);
    if (!inTransaction && !repeatable.test(statement))
      faults.push(`cannot be repeated after it was interrupted: ${begins}`);
    if (inTransaction && /\bconcurrently\b/.test(statement))
      faults.push(`needs \`-- transaction: none\`: ${begins}`);
    // PostgreSQL refuses a not-null column without a default if there are rows. Else the old code fails.
    if (/^alter table\b.*\badd\b[^,]*\bnot null\b/.test(statement) && !/\bdefault\b/.test(statement))
      faults.push(`adds a column that the code before does not fill: ${begins}`);
    if (phase !== "contract")
      for (const [pattern, what] of takesAway)
        if (
          pattern.test(statement) &&
          !free.has(tableOf(statement) ?? "") &&
          !isReplaced(statement, statements)
        )
          faults.push(`${what}: ${begins}`);
    for (const [pattern, what] of holdsUp)
      if (pattern.test(statement) && !free.has(tableOf(statement) ?? "")) faults.push(`${what}: ${begins}`);
  }
  return faults;
}

function tableOf(statement: string): string | undefined {
  return (
    /^(?:alter table|update|insert into|delete from|truncate|lock(?: table)?) (?:if exists |only )?(\w+)/.exec(
      statement,
    )?.[1] ?? /^create (?:unique )?index .*?\bon (?:only )?(\w+)/.exec(statement)?.[1]
  );
}

/** A trigger or constraint that is dropped and created again in one transaction is never missing. */
function isReplaced(statement: string, all: readonly string[]): boolean {
  const trigger = /^drop trigger (?:if exists )?(\w+)/.exec(statement)?.[1];
  return (
    trigger !== undefined && all.some((other) => new RegExp(`^create trigger ${trigger}\\b`).test(other))
  );
}
