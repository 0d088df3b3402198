import assert from "node:assert/strict";
import test from "node:test";
import { acceptedLanguage } from "./accepted-language.ts";

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
