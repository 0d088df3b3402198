import assert from "node:assert/strict";
import test from "node:test";
import { csvOf } from "./csv.ts";

test("cells with commas, quotes and new lines stay one cell", () => {
  assert.equal(csvOf([["a,b", 'say "x"', "two\nlines", 5, null]]), '"a,b","say ""x""","two\nlines",5,\r\n');
});

test("a text that a spreadsheet would run as a formula is only a text", () => {
  for (const text of ["=1+1", "+1", "-1", "@sum", "\tx"])
    assert.ok(csvOf([[text]]).startsWith("'"), JSON.stringify(text));
  assert.equal(csvOf([[-1]]), "-1\r\n", "a number is a number");
});
