import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CHECK_NAMES } from "../src/verify/report.ts";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the README lists the checks, all of them and in their order", () => {
  const rows = [...README.matchAll(/^\| `([a-z_]+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(rows, CHECK_NAMES);
});
