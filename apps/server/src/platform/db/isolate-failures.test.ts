import assert from "node:assert/strict";
import test from "node:test";
import pg from "pg";
import { failureReason, isolateFailures } from "./isolate-failures.ts";

function databaseError(code: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError("holds a value", 0, "error"), { code, severity: "ERROR" });
}

/** Runs rows 1 to `count`; those in `failures` fail the batch that they are in. */
async function run(count: number, failures: ReadonlyMap<number, Error>) {
  const done: number[] = [];
  const aside: number[] = [];
  let batches = 0;
  const rows = Array.from({ length: count }, (_, index) => index + 1);
  const result = await isolateFailures(rows, {
    process: async (some) => {
      batches += 1;
      const failure = some.map((row) => failures.get(row)).find((error) => error !== undefined);
      if (failure !== undefined) throw failure;
      done.push(...some);
    },
    quarantine: async (row) => {
      aside.push(row);
    },
  }).catch((error: unknown) => error);
  return { result, done, aside, batches };
}

test("rows that fail alone are set aside, all others are dealt with, in order", async () => {
  assert.deepEqual(await run(0, new Map()), {
    result: undefined,
    done: [],
    aside: [],
    batches: 0,
  });
  assert.equal((await run(20, new Map())).batches, 1);
  const bad = new Map([
    [1, databaseError("22021")],
    [7, new TypeError("x is not a function")],
    [20, databaseError("P0001")],
  ]);
  const { done, aside } = await run(20, bad);
  assert.deepEqual(aside, [1, 7, 20]);
  assert.deepEqual(
    done,
    Array.from({ length: 20 }, (_, index) => index + 1).filter((row) => !bad.has(row)),
  );
  assert.ok((await run(16, new Map([[5, databaseError("23514")]]))).batches <= 9);
});

test("a failure of the circumstances sets nothing aside and is passed on", async () => {
  const circumstances = [
    ...[
      "08006",
      "25006",
      "40001",
      "40P01",
      "42P01",
      "53100",
      "53300",
      "55P03",
      "57014",
      "57P01",
      "58030",
    ].map(databaseError),
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" }),
    Object.assign(new Error("no space left"), { code: "ENOSPC", syscall: "write" }),
    new Error("Connection terminated unexpectedly"),
    new Error("Client has encountered a connection error and is not queryable"),
    new Error("timeout exceeded when trying to connect"),
  ];
  for (const failure of circumstances)
    for (const count of [1, 5])
      assert.deepEqual(await run(count, new Map([[1, failure]])), {
        ...{ result: failure, done: [], aside: [], batches: 1 },
      });
});

test("what is kept of a failure holds no message", () => {
  const refused = Object.assign(databaseError("23514"), { table: "events", constraint: "events_check" });
  assert.equal(failureReason(refused), "23514, constraint events_check, table events");
  assert.match(failureReason(databaseError("22021")), /^22021, at isolate-failures\.test\.ts:\d+$/);
  assert.match(
    failureReason(new RangeError("ada@example.com\n    at /src/ada@example.com/ada.ts:1:1")),
    /^RangeError, at isolate-failures\.test\.ts:\d+$/,
  );
  assert.equal(failureReason("ada@example.com"), "string");
});
