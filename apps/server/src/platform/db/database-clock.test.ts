import assert from "node:assert/strict";
import test from "node:test";
import { DatabaseClock } from "./database-clock.ts";
import type { Queryable } from "./db.ts";

/** A machine and a database with clocks that the test sets; an answer takes 20 ms. */
function clocks() {
  const is = { machine: 0, database: 0, elapsed: 0 };
  const pass = (ms: number) => {
    is.machine += ms;
    is.database += ms;
    is.elapsed += ms;
  };
  const clock = new DatabaseClock({ now: () => new Date(is.machine) }, () => is.elapsed);
  const db = {
    one: async () => {
      pass(10);
      const now = new Date(is.database);
      pass(10);
      return { now };
    },
  } as unknown as Queryable;
  return { is, pass, clock, ask: () => clock.ask(db) };
}

test("a machine that is two hours ahead goes by the database's time", async () => {
  const { is, clock, ask } = clocks();
  is.database -= 7_200_000;
  await ask();
  assert.equal(clock.now().getTime(), is.database);
  assert.equal(clock.machineAheadMs, 7_200_000);
});

test("somebody who sets the machine's clock moves nothing", async () => {
  const { is, pass, clock, ask } = clocks();
  await ask();
  is.machine += 10_800_000;
  pass(5);
  assert.equal(clock.now().getTime(), is.database);
  await ask();
  assert.equal(clock.now().getTime(), is.database);
});

test("a difference that the time of the answer explains is no reason to jump", async () => {
  const { is, clock, ask } = clocks();
  is.database += 200;
  await ask();
  assert.equal(clock.now().getTime(), is.elapsed);
  is.database += 100;
  await ask();
  assert.equal(clock.now().getTime(), is.database);
});
