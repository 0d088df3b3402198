import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { sealedColumns } from "./sealed-columns.store.ts";

const page = readFileSync(new URL("../../../../../docs/encryption-and-regions.md", import.meta.url), "utf8");

test("the page on encryption names every column that is encrypted, and no other", () => {
  const named = [...page.matchAll(/`(\w+\.\w+)`/g)].map(([, column]) => column).sort();
  assert.deepEqual(named, sealedColumns.map(({ table, column }) => `${table}.${column}`).sort());
});
