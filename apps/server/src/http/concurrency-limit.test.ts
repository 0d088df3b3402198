import assert from "node:assert/strict";
import test from "node:test";
import { firstLimit, leastLimit, nextLimit, type Strain } from "./concurrency-limit.ts";

const bounds = { first: 14, most: 256 };
const atRest: Strain = {
  loopUtilization: 0.3,
  poolWaiting: 0,
  databaseSlowness: 1,
  placed: 12,
  someoneWaited: false,
};

/** The limit after so many steps under the same strain. */
function after(steps: number, limit: number, most: number, strain: Partial<Strain>): number {
  let result = limit;
  for (let i = 0; i < steps; i++)
    result = nextLimit(result, { first: Math.min(14, most), most }, { ...atRest, placed: result, ...strain });
  return result;
}

test("the limit grows while requests wait and neither the loop nor the pool is used up", () => {
  assert.ok(nextLimit(4, bounds, { ...atRest, someoneWaited: true }) > 4);
  // Requests that wait for something outside get room before they have waited for half a second.
  assert.equal(after(20, 14, 256, { someoneWaited: true }), 256);
});

test("it stays where nobody waits", () => {
  assert.equal(nextLimit(14, bounds, atRest), 14);
});

test("it comes down when the loop or the database is busy or work waits for a connection, whoever waits", () => {
  for (const someoneWaited of [false, true]) {
    assert.ok(nextLimit(20, bounds, { ...atRest, someoneWaited, databaseSlowness: 10 }) < 20);
    assert.ok(nextLimit(20, bounds, { ...atRest, someoneWaited, loopUtilization: 0.99 }) < 20);
    assert.ok(nextLimit(20, bounds, { ...atRest, someoneWaited, poolWaiting: 1 }) < 20);
  }
});

test("it stays where the loop or the database is nearly busy", () => {
  assert.equal(nextLimit(20, bounds, { ...atRest, someoneWaited: true, databaseSlowness: 4 }), 20);
  assert.equal(nextLimit(20, bounds, { ...atRest, someoneWaited: true, loopUtilization: 0.85 }), 20);
});

test("it never leaves its bounds, and comes down to the least one from the greatest within two seconds", () => {
  assert.equal(after(80, 256, 256, { loopUtilization: 1 }), leastLimit);
  assert.equal(after(80, 4, 30, { someoneWaited: true }), 30);
});

test("an operator's limit below the least one holds", () => {
  assert.equal(after(10, 2, 2, { someoneWaited: true }), 2);
  assert.equal(after(10, 2, 2, { loopUtilization: 1 }), 2);
});

test("when it is calm it goes back to where it began, from above and from below", () => {
  assert.equal(after(40, 256, 256, { placed: 3 }), 14);
  assert.equal(after(40, 4, 256, { placed: 3 }), 14);
  assert.equal(after(40, 100, 256, { placed: 80 }), 100, "not while it is needed");
  assert.equal(
    after(40, 5, 256, { placed: 3, loopUtilization: 0.85 }),
    5,
    "not while the loop is nearly busy",
  );
});

test("at the beginning one caller, who gets two thirds of the places, can use every connection", () => {
  for (let poolSize = 2; poolSize <= 10; poolSize++)
    assert.ok(Math.ceil((firstLimit(poolSize) * 2) / 3) >= poolSize);
  assert.equal(firstLimit(200), 16);
});
