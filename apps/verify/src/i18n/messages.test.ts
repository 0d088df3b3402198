import assert from "node:assert/strict";
import test from "node:test";
import { claimKeys, failureCodes } from "@assay/contract/sessions";
import { de } from "./de.ts";
import { en, type Messages } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";

const translations: Readonly<Record<string, Messages>> = { en, de, fr, es };

/** Every sentence of a language, by its path; functions are called with samples. */
function sentences(value: unknown, path = ""): [string, string][] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function")
    return [0, 1, 2].map((count) => [
      `${path}(${count})`,
      String(value(path.match(/Left|Soon|Over/) ? count : "Name")),
    ]);
  return Object.entries(value as object).flatMap(([key, inner]) => sentences(inner, `${path}.${key}`));
}

for (const [language, messages] of Object.entries(translations)) {
  test(`${language}: every claim and every failure has words, and no sentence is empty`, () => {
    for (const key of claimKeys) assert.ok(messages.claim[key].length > 3, key);
    for (const code of failureCodes)
      for (const part of ["title", "text", "next"] as const)
        assert.ok(messages.failure[code][part].length > 10, `${code}.${part}`);
    for (const [path, text] of sentences(messages)) assert.ok(text.trim() !== "", path);
  });

  if (language !== "en")
    test(`${language}: nothing was left in English`, () => {
      const english = new Map(sentences(en));
      // Words that are the same in both languages.
      const shared = new Set(["Website", ""]);
      const same = sentences(messages).filter(
        ([path, text]) => english.get(path) === text && !shared.has(text) && !/^\d+ minutes?$/.test(text),
      );
      assert.deepEqual(same, []);
    });
}
