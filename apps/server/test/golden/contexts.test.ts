import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";

const source = new URL("../../src/", import.meta.url).pathname;

test("two contexts act on code unseen: the transaction that it is part of, and its span", () => {
  const places = globSync("**/*.ts", { cwd: source }).flatMap((file) =>
    [...readFileSync(source + file, "utf8").matchAll(/new AsyncLocalStorage\b/g)].map(() => file),
  );
  assert.deepEqual(places.sort(), ["platform/db/db.ts", "platform/lib/tracer.ts"]);
});

test("a statement is sent by one of five verbs, and by two more inside of a transaction", () => {
  const text = readFileSync(`${source}platform/db/db.ts`, "utf8");
  const membersOf = (pattern: RegExp) =>
    [...(pattern.exec(text)?.[1] ?? "").matchAll(/^ {2}(?:async )?(\w+)[<(]/gm)].map(([, name]) => name);
  assert.deepEqual(membersOf(/^export type Queryable = \{\n(.*?)^\};/ms), [
    ...["rows", "one", "first", "run"],
    "notify",
  ]);
  const own = membersOf(/^export class Tx extends Statements \{\n(.*?)^\}/ms);
  assert.deepEqual(own, ["constructor", "ask", "write", "notify"]);
});
