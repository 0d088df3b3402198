import assert from "node:assert/strict";
import { after, test } from "node:test";
import { patientLimits } from "../../../src/platform/db/connection.ts";
import { firstRow, openDb } from "../../../src/platform/db/db.ts";
import { sql } from "../../../src/platform/db/sql.ts";
import { createTestDatabase, untilBlocked } from "../../support/database.ts";

const { url, drop } = await createTestDatabase();
const db = openDb({ url, poolSize: 3, onError: () => {} });
after(async () => {
  await db.close();
  await drop();
});
await db.run(sql`create table counts (name text primary key, value integer not null check (value >= 0))`);
await db.run(sql`insert into counts values ('a', 1), ('b', 1)`);

const stored = (name: string) =>
  firstRow<{ value: number }>(sql`select value from counts where name = ${name}`);
const read = async (name: string) => (await db.first<{ value: number }>(stored(name).statement))?.value;
const set = (name: string, value: number) => sql`update counts set value = ${value} where name = ${name}`;

test("what is held is written with the commit, and read by the statement that follows it", async () => {
  await db.transaction(async (tx) => {
    tx.write(set("a", 2));
    const [a] = await tx.ask(stored("a"));
    assert.equal(a?.value, 2);
    // The same statement twice, for the first time on this connection.
    for (const name of ["a", "b"]) tx.write(sql`update counts set value = value + 1 where name = ${name}`);
  });
  assert.deepEqual([await read("a"), await read("b")], [3, 2]);
});

test("a held write that fails takes everything with it, and the connection can be used again", async () => {
  const before = [await read("a"), await read("b")];
  for (let round = 0; round < 4; round++) {
    const failing = db.transaction(async (tx) => {
      tx.write(set("a", 50));
      tx.write(set("b", -1));
      // It is prepared for the first time after a statement that fails.
      tx.write(sql`select 'never reached'`);
    });
    await assert.rejects(failing, /violates check constraint/);
  }
  assert.deepEqual([await read("a"), await read("b")], before);
  await db.transaction(async (tx) => tx.write(sql`select 'never reached'`));
});

test("work that throws leaves nothing, whether or not it has sent something", async () => {
  const before = await read("a");
  const failure = new Error("refused");
  const refuse = () => {
    throw failure;
  };
  await assert.rejects(
    db.transaction(async (tx) => {
      tx.write(set("a", 60));
      refuse();
    }),
    failure,
  );
  await assert.rejects(
    db.transaction(async (tx) => {
      tx.write(set("a", 60));
      await tx.ask(stored("a"));
      tx.write(set("a", 61));
      refuse();
    }),
    failure,
  );
  assert.equal(await read("a"), before);
});

test("a part of a joined transaction is undone by itself, sent or held", async () => {
  await db.joinedTransaction(async () => {
    await db.transaction(async (tx) => tx.write(set("a", 10)));
    for (const isSent of [false, true])
      await assert.rejects(
        db.transaction(async (tx) => {
          tx.write(set("a", 20));
          if (isSent) await tx.ask(stored("a"));
          tx.write(set("b", 20));
          throw new Error("undone");
        }),
        /undone/,
      );
    await assert.rejects(
      db.transaction(async (tx) => tx.write(set("b", -1))),
      /violates check constraint/,
    );
    await db.transaction(async (tx) => tx.write(set("b", 11)));
  });
  assert.deepEqual([await read("a"), await read("b")], [10, 11]);
});

test("a question that follows one that waited for a lock sees what was committed meanwhile", async () => {
  const blocker = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const first = db.transaction(async (tx) => {
    await tx.run(set("a", 30));
    await tx.run(set("b", 31));
    held.resolve();
    await blocker.promise;
  });
  await held.promise;
  const second = db.transaction((tx) =>
    tx.ask(
      firstRow<{ value: number }>(sql`select value from counts where name = 'a' for update`),
      stored("b"),
    ),
  );
  await untilBlocked(db);
  blocker.resolve();
  await first;
  const [a, b] = await second;
  assert.deepEqual([a?.value, b?.value], [30, 31]);
});

test("a statement that the server refuses outside of a transaction does not cost its connection; one that ends it does", async () => {
  const limits = { ...patientLimits, statementMs: 500 };
  const single = openDb({ url, poolSize: 1, limits, onError: () => {} });
  after(() => single.close());
  const backend = async () => (await single.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid;
  const first = await backend();
  const refused = [
    sql`select 1 / 0`,
    sql`insert into counts values ('a', 1)`,
    sql`select * from no_such_table`,
    sql`select pg_sleep(20)`,
  ];
  for (const statement of refused) await assert.rejects(single.run(statement));
  assert.equal(await backend(), first);
  await assert.rejects(single.run(sql`select pg_terminate_backend(pg_backend_pid())`));
  assert.notEqual(await backend(), first);
});

test("a prepared statement that does not fit its tables any more costs its connection, and works on the next", async () => {
  const single = openDb({ url, poolSize: 1, onError: () => {} });
  after(() => single.close());
  await db.run(sql`create table widening (id integer)`);
  const all = () => single.rows(sql`select * from widening`);
  await all();
  await all();
  await db.run(sql`alter table widening add column more text`);
  await all().catch(() => {});
  assert.deepEqual(await all(), []);
});

test("a row names its columns in camelCase, and a type of a row that does not is refused by the compiler", async () => {
  const statement = sql`select 1 as first_value, 2 as "asWritten", 3 as column_2_of_3`;
  assert.deepEqual(await db.rows(statement), [{ firstValue: 1, asWritten: 2, column2Of3: 3 }]);
  // @ts-expect-error The name of a column is not that of a member.
  await db.one<{ first_value: number }>(statement);
});
