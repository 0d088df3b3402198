import assert from "node:assert/strict";
import test from "node:test";
import { csvOf } from "./csv.ts";

test("cells with commas, quotes and new lines stay one cell", () => {
  assert.equal(csvOf([["a,b", 'say "x"', "two\nlines", 5, null]]), '"a,b","say ""x""","two\nlines",5,\r\n');
});

test("every text is in quotes, so that a file read with `;` as the separator has the same cells", () => {
  assert.equal(csvOf([["a;b", "c", null, 7]]), '"a;b","c",,7\r\n');
});

test("a text that a spreadsheet would run as a formula is only a text", () => {
  for (const text of [
    "=1+1",
    "+1",
    "-1",
    "@sum",
    "\tx",
    "＝1+1",
    " =1+1",
    "a;=1+1",
    "a,=1",
    "a\t=1",
    'a";"=1',
    "a\n=1",
  ])
    assert.ok(csvOf([[text]]).startsWith(`"'`), JSON.stringify(text));
  for (const text of ["a=1", "a+b", "2026-03-01", "user@example.com", "a; b"])
    assert.equal(csvOf([[text]]), `"${text}"\r\n`);
  assert.equal(csvOf([[-1]]), "-1\r\n", "a number is a number");
});
