import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import test from "node:test";
import { dashboardLanguages } from "@assay/contract/facts";
import { loadWords } from "../i18n/words.ts";
import { countText, percentText } from "./numbers.ts";

test("counts and shares are written as the browser writes them in each language", async () => {
  for (const language of dashboardLanguages) {
    await loadWords(language);
    for (const count of [0, 7, 999, 1000, 12_345, 999_999, 1_000_000, 1_234_567_890])
      assert.equal(countText(count), count.toLocaleString(language));
    for (const share of [0, 0.004, 0.0123, 0.05, 0.0949, 0.1, 0.333, 0.5, 0.987, 0.999, 1])
      assert.equal(
        percentText(share),
        share.toLocaleString(language, { style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }),
      );
  }
});

test("no page writes a number in the way of the browser's language, whose digits may be others", () => {
  const pages = globSync("**/*.{ts,tsx}", { cwd: new URL("..", import.meta.url) });
  assert.ok(pages.length > 50);
  for (const file of pages)
    assert.doesNotMatch(
      readFileSync(new URL(`../${file}`, import.meta.url), "utf8"),
      /\.toLocale\w*String\(\)|new Intl\.\w+\(\)/,
      file,
    );
});
