import assert from "node:assert/strict";
import test from "node:test";
import { acceptedEncoding, acceptedLanguage, prefersHtml } from "./accept.ts";

test("brotli comes before gzip, and what the client refuses is not used", () => {
  for (const [header, encoding] of [
    [undefined, null],
    ["", null],
    ["identity", null],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip;q=1.0, br;q=0", "gzip"],
    ["GZIP", "gzip"],
    ["br ; q=0.000, gzip ; q=0", null],
    ["*", "br"],
    ["*;q=0", null],
    ["*;q=0, gzip", "gzip"],
    ["gzipped, brotli", null],
  ] as const)
    assert.equal(acceptedEncoding(header), encoding, header);
});

const offered = ["en", "de", "uk"] as const;

test("the language that is liked best of those that are offered is taken, and none where none is", () => {
  const of = (header?: string) => acceptedLanguage(header, offered);
  assert.equal(of("de-AT,de;q=0.9,en;q=0.8"), "de");
  assert.equal(of("en;q=0.5, uk;q=0.7, sv"), "uk");
  assert.equal(of("EN-gb"), "en");
  assert.equal(of("en;q=0, *;q=0.5"), null);
  for (const header of [undefined, "", "*", "sv,da;q=0.5", ";;,,=", "de;q=2", "de;q=x"])
    assert.equal(of(header), null, header);
});

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
