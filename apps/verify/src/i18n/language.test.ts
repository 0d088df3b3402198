import assert from "node:assert/strict";
import test from "node:test";
import { en } from "./en.ts";
import { claimWords, initialLanguage } from "./language.ts";

test("the person's choice comes first, then the browser's languages in their order, then English", () => {
  assert.equal(initialLanguage("fr", ["de-DE"]), "fr");
  assert.equal(initialLanguage(null, ["pt-BR", "es-MX", "de"]), "es");
  assert.equal(initialLanguage("tlh", ["DE-AT"]), "de");
  assert.equal(initialLanguage(null, ["constructor", "ja"]), "en");
  assert.equal(initialLanguage(null, []), "en");
});

test("an age is asked for in words, and a key that this page does not know is shown as it is", () => {
  assert.equal(claimWords(en, "age_over_18").label, "Whether you are at least 18");
  assert.equal(claimWords(en, "family_name").label, "Family name");
  assert.deepEqual(claimWords(en, "shoe_size"), { label: "shoe_size", about: null });
  assert.deepEqual(claimWords(en, "toString"), { label: "toString", about: null });
});
