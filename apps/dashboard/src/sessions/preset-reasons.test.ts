import assert from "node:assert/strict";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { presets } from "@assay/contract/presets";
import { shareLimits } from "@assay/contract/sessions";
import texts from "../../preset-reasons.json" with { type: "json" };
import { withoutTranslations, withTranslations } from "./preset-reasons.ts";
import { presetShares } from "./session-body.ts";

const known: Readonly<Record<string, Readonly<Record<string, string>>>> = texts;

test("every reason of a preset has a translation of its own in each language of the page, and none is left over", () => {
  const reasons = new Set(presets.flatMap(({ wishes }) => Object.values(wishes).map(({ reason }) => reason)));
  assert.deepEqual(Object.keys(known).sort(), [...reasons].sort());
  const others = pageLanguages.filter((language) => language !== "en");
  for (const [reason, translations] of Object.entries(known)) {
    assert.deepEqual(Object.keys(translations).sort(), [...others].sort(), reason);
    for (const [language, text] of Object.entries(translations)) {
      assert.notEqual(text, reason, language);
      assert.ok(
        text === text.trim() && [...text].length <= shareLimits.reasonCharacters,
        `${language}: ${text}`,
      );
    }
  }
  for (const language of others) {
    const inOne = Object.values(known).map((translations) => translations[language]);
    assert.equal(new Set(inOne).size, inOne.length, `${language} says the same for two reasons`);
  }
});

test("a preset's reason is given in every language, one that was written or translated by hand as it is", async () => {
  const [age] = presets;
  assert.ok(age !== undefined);
  const asked = {
    ...presetShares(age),
    family_name: { required: true, reason: "My own." },
    given_names: { required: true, reason: "The law requires it.", reasons: { de: "Von Hand." } },
  };
  const sent = await withTranslations(asked);
  assert.equal(Object.keys(sent.age_over_18?.reasons ?? {}).length, pageLanguages.length - 1);
  assert.deepEqual([sent.family_name, sent.given_names], [asked.family_name, asked.given_names]);
  // A form that is filled from the template says the same.
  assert.deepEqual(await withoutTranslations(sent), asked);
});
