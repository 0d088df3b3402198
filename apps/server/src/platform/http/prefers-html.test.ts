import assert from "node:assert/strict";
import test from "node:test";
import { prefersHtml } from "./prefers-html.ts";

test("a page is for who names HTML, and likes it at least as well as JSON", () => {
  for (const accept of [
    "text/html",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "TEXT/HTML; charset=utf-8",
    "application/json;q=0.5, text/html;q=0.9",
    "application/json, text/html",
  ])
    assert.equal(prefersHtml(accept), true, accept);
  for (const accept of [
    undefined,
    "",
    "*/*",
    "text/*",
    "application/json",
    "application/json, text/html;q=0.9",
    "text/html;q=0",
    "text/html;q=x",
    "text/htmlx",
  ])
    assert.equal(prefersHtml(accept), false, accept);
});
