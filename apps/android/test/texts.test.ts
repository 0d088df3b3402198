import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";

const folder = path.resolve(import.meta.dirname, "..");
const ios = path.resolve(folder, "../ios/Shared/Resources");

/** Those that name a host or a partner. */
const withPlace = ["ask_title", "ask_partner", "ask_refused"];

/** Android falls back to the folder without a language, which is English. */
const folderOf = (language: string) => (language === "en" ? "values" : `values-${language}`);

function textsOf(language: string): ReadonlyMap<string, string> {
  const xml = readFileSync(path.join(folder, "res", folderOf(language), "strings.xml"), "utf8");
  return new Map(
    [...xml.matchAll(/<string name="(\w+)">(.*)<\/string>/g)].map(([, name = "", text = ""]) => [name, text]),
  );
}

function iosTextsOf(language: string): ReadonlyMap<string, string> {
  const strings = readFileSync(path.join(ios, `${language}.lproj/Localizable.strings`), "utf8");
  return new Map(
    [...strings.matchAll(/^"(\w+)" = "(.*)";$/gm)].map(([, name = "", text = ""]) => [name, text]),
  );
}

test("the app's words are there in every language of the page, and none is left in English", () => {
  const java = globSync("java/**/*.java", { cwd: folder }).map((file) =>
    readFileSync(path.join(folder, file), "utf8"),
  );
  const used = new Set([...java.join("\n").matchAll(/R\.string\.(\w+)/g)].map(([, name]) => name));
  const english = textsOf("en");
  assert.deepEqual([...english.keys()].sort(), [...used].sort());
  assert.deepEqual(
    globSync("res/values*/strings.xml", { cwd: folder })
      .map((file) => path.basename(path.dirname(file)))
      .sort(),
    pageLanguages.map(folderOf).sort(),
  );
  for (const language of pageLanguages) {
    const texts = textsOf(language);
    assert.deepEqual([...texts.keys()], [...english.keys()], language);
    for (const [name, text] of texts) {
      const where = `${language} ${name}`;
      assert.deepEqual(text.match(/%[\w$]*/g), withPlace.includes(name) ? ["%1$s"] : null, where);
      // The compiler of resources takes these for its own and drops them.
      assert.doesNotMatch(text, /['"\\]|^[@?]/, where);
      if (language !== "en" && text.length > 5) assert.notEqual(text, english.get(name), where);
    }
  }
});

test("both shells ask for the link, and whether to open it, in the same words", () => {
  for (const language of pageLanguages) {
    const [here, there] = [textsOf(language), iosTextsOf(language)];
    const shared = [...here.keys()].filter((name) => /^(?:entry|scan|ask)_/.test(name));
    assert.equal(shared.length, 14);
    for (const name of shared)
      assert.equal(here.get(name), there.get(name)?.replace("%@", "%1$s"), `${language} ${name}`);
  }
});
