import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { decideConsent } from "./consent.ts";
import { loadConsentTexts, parseConsentTexts, shownText } from "./consent-texts.ts";

const keys = ["family_name", "given_names", "date_of_birth", "service_document_id"];
const asked = fc
  .array(fc.boolean(), { minLength: keys.length, maxLength: keys.length })
  .map((required) =>
    Object.fromEntries(
      keys.map((key, i) => [key, { required: required[i] ?? false, reason: "", source: "rc" as const }]),
    ),
  );
const chosen = fc.array(
  fc.constantFrom(...keys, "document_number", "__proto__", "constructor", "toString", ""),
);

test("what is agreed holds everything required, nothing unasked, and is in the order asked", () => {
  fc.assert(
    fc.property(asked, chosen, (fields, choice) => {
      const decision = decideConsent(fields, choice);
      const unasked = choice.filter((key) => !keys.includes(key));
      const missing = keys.filter((key) => fields[key]?.required && !choice.includes(key));
      if ("problem" in decision) {
        const { kind, key } = decision.problem;
        assert.ok(kind === "unknown" ? unasked.includes(key) : missing.includes(key));
        return;
      }
      assert.deepEqual([unasked, missing], [[], []]);
      assert.deepEqual(
        decision.selected,
        keys.filter((key) => choice.includes(key)),
      );
      assert.deepEqual(
        decision.declined,
        keys.filter((key) => !choice.includes(key)),
      );
    }),
  );
});

test("texts without a version, English or a paragraph are refused, naming what is missing", () => {
  const text = { title: "Title", paragraphs: ["One."] };
  const texts = { en: text, de: text, fr: text, es: text };
  assert.equal(parseConsentTexts(JSON.stringify({ version: "2026-03-01", texts })).version, "2026-03-01");
  const refused = (file: unknown, problem: RegExp) =>
    assert.throws(() => parseConsentTexts(JSON.stringify(file)), problem);
  refused(null, /version/);
  refused({ texts }, /version/);
  refused({ version: "a b", texts }, /version/);
  refused({ version: "1", texts: { ...texts, en: undefined } }, /texts\.en\.title/);
  refused({ version: "1", texts: { ...texts, fr: { ...text, reviewed: "no" } } }, /texts\.fr\.reviewed/);
  refused({ version: "1", texts: { ...texts, es: { ...text, paragraphs: [] } } }, /texts\.es\.paragraphs/);
  refused({ version: "1", texts: { ...texts, es: { ...text, paragraphs: [1] } } }, /texts\.es\.paragraphs/);
});

test("a language may be missing from the texts, and a translation that no lawyer has read says so", () => {
  const text = { title: "Title", paragraphs: ["One."] };
  const { texts } = parseConsentTexts(
    JSON.stringify({ version: "1", texts: { en: text, de: { ...text, reviewed: false }, tlh: text } }),
  );
  assert.deepEqual(texts, { en: { ...text, reviewed: true }, de: { ...text, reviewed: false } });
});

test("a paragraph may have one text for documents and one for wallets, in every language or in none", () => {
  const both = { title: "Title", paragraphs: ["One.", { document: "Chip.", wallet: "Wallet." }] };
  const parse = (texts: object) => parseConsentTexts(JSON.stringify({ version: "1", texts }));
  const parsed = parse({ en: both });
  assert.deepEqual(parsed.texts.en, {
    title: "Title",
    paragraphs: ["One.", "Chip."],
    wallet_paragraphs: ["One.", "Wallet."],
    reviewed: true,
  });
  assert.equal(shownText(parsed, ["wallet_pid", "document_chip"]), "wallet_paragraphs");
  assert.equal(shownText(parsed, null), "paragraphs");
  const plain = { title: "Title", paragraphs: ["One.", "Two."] };
  assert.equal(shownText(parse({ en: plain }), ["wallet_pid"]), "paragraphs");
  assert.throws(() => parse({ en: both, de: plain }), /texts\.de\.paragraphs.*exactly where English does/);
  assert.throws(() => parse({ en: plain, de: both }), /texts\.de\.paragraphs.*exactly where English does/);
  const half = { title: "Title", paragraphs: [{ wallet: "Wallet." }] };
  assert.throws(() => parse({ en: half }), /texts\.en\.paragraphs/);
});

test("the texts of earlier versions are kept byte for byte, so that a receipt can be compared with what it names", () => {
  const hashes = {
    "2026-03-01": "8b5ce63111a7624b07dbb87929cb483b3c8818d1fdbaafc8180fdb5f9cf50577",
    "2026-11-16": "644b43c692fe4da82d9ff969bf1925753d37b1e82621233891ecf88d9a1bff56",
    "2026-11-18": "25616aa18133d26cbdc5bff3eb4cffe63642c5cdabbcc987ee0d0a844bebd8a1",
  };
  for (const [version, hash] of Object.entries(hashes)) {
    const consentTextsFile = new URL(`../../../terms/former/${version}.json`, import.meta.url).pathname;
    const texts = loadConsentTexts({ consentTextsFile });
    assert.deepEqual([texts.version, texts.hash], [version, `sha256:${hash}`]);
  }
  assert.ok(!Object.hasOwn(hashes, loadConsentTexts({ consentTextsFile: "" }).version));
});
