import assert from "node:assert/strict";
import test from "node:test";
import texts from "../../texts/en.json" with { type: "json" };
import { claimWords, failureWords, initialLanguage, reasonIn, sessionLanguage } from "./language.ts";
import { messagesOf } from "./messages.ts";

const en = messagesOf(texts, "en");

test("the person's choice comes first, then the browser's languages in their order, then English", () => {
  assert.equal(initialLanguage("fr", ["de-DE"]), "fr");
  assert.equal(initialLanguage(null, ["nb-NO", "es-MX", "de"]), "es");
  assert.equal(initialLanguage("tlh", ["DE-AT"]), "de");
  assert.equal(initialLanguage(null, ["constructor", "ja"]), "en");
  assert.equal(initialLanguage(null, []), "en");
});

test("the session's language holds until the person has chosen; what they agreed in comes before what the partner named", () => {
  const agreedIn = (language: "de" | null) => ({ consent: { language } });
  assert.equal(sessionLanguage(false, { locale: "fr", consent: null }), "fr");
  assert.equal(sessionLanguage(false, { locale: "fr", ...agreedIn("de") }), "de");
  assert.equal(sessionLanguage(false, { locale: "fr", ...agreedIn(null) }), "fr");
  assert.equal(sessionLanguage(true, { locale: "fr", ...agreedIn("de") }), null);
  assert.equal(sessionLanguage(false, { locale: null, ...agreedIn("de") }), null);
});

test("a reason is read in the person's language, or as the partner wrote it for everybody, and marked with what it is written in", () => {
  const reason = "We sell wine.";
  const field = { reason, reasons: { de: "Wir verkaufen Wein." } };
  assert.deepEqual(reasonIn("de", field), { text: "Wir verkaufen Wein.", lang: "de" });
  assert.deepEqual(reasonIn("fr", field), { text: reason, lang: "" });
  assert.deepEqual(reasonIn("fr", { ...field, reasons: { ...field.reasons, en: reason } }), {
    text: reason,
    lang: "en",
  });
  assert.deepEqual(reasonIn("de", { reason }), { text: reason, lang: "" });
});

test("a document that cannot do what is required is not said to be forged", () => {
  const code = "document_chip_authentication_failed";
  assert.equal(failureWords(en, code, null), en.failure[code]);
  assert.equal(failureWords(en, code, "clone_detection"), en.unmet.clone_detection);
  assert.equal(failureWords(en, "document_authenticity_failed", "revocation"), en.unmet.revocation);
});

test("an age is asked for in words, and a key that this page does not know is shown as it is", () => {
  assert.equal(claimWords(en, "age_over_18").label, "Whether you are at least 18");
  assert.equal(claimWords(en, "family_name").label, "Family name");
  assert.deepEqual(claimWords(en, "shoe_size"), { label: "shoe_size", about: null });
  assert.deepEqual(claimWords(en, "toString"), { label: "toString", about: null });
});
