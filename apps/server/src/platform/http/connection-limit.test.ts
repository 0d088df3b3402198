import assert from "node:assert/strict";
import test from "node:test";
import { connectionLimit } from "./connection-limit.ts";

const needs = { database: 12, outbound: 1024 };

test("connections leave room for the database, files and connections to others", () => {
  assert.equal(connectionLimit(20_000, 1_048_576, needs), 20_000);
  assert.equal(connectionLimit(20_000, 20_000, needs), 20_000 - 64 - 12 - 1024);
  assert.equal(connectionLimit(20_000, 1024, needs), 1024 - 64 - 12 - 256);
  assert.equal(connectionLimit(100, 1024, needs), 100);
});

test("a few connections remain where next to no files may be open, and an unknown limit bounds nothing", () => {
  assert.equal(connectionLimit(20_000, 64, needs), 10);
  assert.equal(connectionLimit(20_000, null, needs), 20_000);
});
