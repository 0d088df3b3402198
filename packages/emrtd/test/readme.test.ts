import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkNames } from "../src/verify/report.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README lists the checks, all of them and in their order", () => {
  const rows = [...readme.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, checkNames);
});
