import assert from "node:assert/strict";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { claimKeys, failureCodes } from "@assay/contract/sessions";
import en from "../../texts/en.json" with { type: "json" };
import { languages } from "./language.ts";
import { loadTexts } from "./load-texts.ts";
import { messagesOf } from "./messages.ts";
import { pseudoTexts } from "./pseudo.ts";

test("every claim, every failure and every language of the contract has words", () => {
  for (const key of claimKeys) assert.ok(key in en.claim, key);
  for (const code of failureCodes) assert.ok(en.failure[code].next, code);
  assert.deepEqual(Object.keys(languages).sort(), [...pageLanguages].sort());
});

test("numbers take the form of their language, and names keep to themselves in a text from right to left", async () => {
  const polish = messagesOf(await loadTexts("pl"), "pl");
  assert.deepEqual([1, 2, 5, 22].map(polish.minutesLeft), ["1 minuta", "2 minuty", "5 minut", "22 minuty"]);
  const arabic = messagesOf(await loadTexts("ar"), "ar");
  assert.deepEqual([2, 3, 11].map(arabic.minutesLeft), ["دقيقتان", "3 دقائق", "11 دقيقة"]);
  assert.ok(arabic.returnTo("Shop").includes("\u2068Shop\u2069"));
  const words = messagesOf(en, "en");
  assert.equal(words.faceProgress({ movement: 2, movements: 4 }), "Movement 2 of 4");
  assert.equal(words.returnTo("{name} & Sons"), "Back to {name} & Sons");
});

test("the language for development is longer than English, and keeps the places", () => {
  const { consentTitle } = pseudoTexts(en);
  assert.ok(consentTitle.length > en.consentTitle.length * 1.3 && consentTitle.includes("{name}"));
});
