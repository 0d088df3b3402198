import assert from "node:assert/strict";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { claimKeys, failureCodes } from "@assay/contract/sessions";
import { en } from "./en.ts";
import { languages } from "./language.ts";
import { loadTexts } from "./load-texts.ts";
import { messagesOf } from "./messages.ts";
import { pseudoTexts } from "./pseudo.ts";

const isPlural = (value: object): boolean => typeof (value as { other?: unknown }).other === "string";

/** Every text of a language by its path; the forms of a plural have paths of their own, after a `#`. */
function textsIn(value: unknown, path = ""): [path: string, text: string][] {
  if (typeof value === "string") return [[path, value]];
  const inner = value as object;
  return Object.entries(inner).flatMap(([key, part]) =>
    textsIn(part, isPlural(inner) ? `${path}#${key}` : path === "" ? key : `${path}.${key}`),
  );
}

const english = new Map(textsIn(en));
const keysOf = (paths: Iterable<string>) => [...new Set([...paths].map((path) => path.split("#")[0] ?? ""))];
const placesOf = (text: string) => [...new Set(text.match(/\{\w+\}/g))].sort().join();

/** Words that a language may share with English, or that stand for themselves. */
const alike = new Set(["Website", "Optional", "{count} minute", "{count} minutes", "Chip"]);

/**
 * What stands in a button or in one line of a step has no room to grow without end. By hand, looked at on 320 pixels: Finnish and Greek have texts of
 * these lengths that still fit. Half: real translations fail. Twice: a button of three lines passes.
 */
const longest = (english: string) => Math.max(24, english.length * 1.9 + 8);
const inOneLine =
  /Button$|^step[A-Z]|^(copy|receipt(Show|Back|Print|Download)|cancel(Confirm|Back)|withdraw(Confirm|Keep)|returnStay|beginAgain|tryAgain|connectionRetry|face(Start|StartNow|Stop|UseCamera|SimulatedStart)|appOpen|appInstall|pickUse|frame\.(openTab|tabClose|movedStay)|otherNewCode|otherBack|counter\.here|pickAll|faceGentle\.(choose|back)|consentShow)/;

for (const language of pageLanguages)
  test(`${language}: the texts are complete, with the places and plurals that they need, and short enough for buttons`, async () => {
    const texts = textsIn(await loadTexts(language));
    assert.deepEqual(keysOf(texts.map(([path]) => path)), keysOf(english.keys()), "keys");
    const categories = new Set(
      Array.from({ length: 200 }, (_, count) => new Intl.PluralRules(language).select(count)),
    );
    for (const [path, text] of texts) {
      const [key = "", category] = path.split("#");
      assert.ok(text === text.trim() && text.length > 1, `${path} is empty or has spaces around it`);
      const pattern = english.get(path) ?? english.get(`${key}#other`) ?? "";
      // "One minute" and "two minutes" may be words.
      if (category === undefined || !["zero", "one", "two"].includes(category))
        assert.equal(placesOf(text), placesOf(pattern), `${path} has other places than in English`);
      if (inOneLine.test(key))
        assert.ok(text.length <= longest(pattern), `${path} is too long for a button: ${text}`);
      if (language !== "en" && pattern === text)
        assert.ok(alike.has(text), `${path} was left in English: ${text}`);
    }
    for (const key of keysOf(english.keys()).filter((key) => english.has(`${key}#other`)))
      for (const category of language === "en" ? [] : categories)
        assert.ok(
          texts.some(([path]) => path === `${key}#${category}`),
          `${key} has no form for “${category}”`,
        );
  });

test("every claim, every failure and every language of the contract has words", () => {
  for (const key of claimKeys) assert.ok(english.has(`claim.${key}`), key);
  for (const code of failureCodes) assert.ok(english.has(`failure.${code}.next`), code);
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
