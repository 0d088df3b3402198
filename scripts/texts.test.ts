import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { evidenceWarnings } from "@assay/contract/evidence-warnings";
import { dashboardLanguages, directionOf, mailLanguages, pageLanguages } from "@assay/contract/facts";
import { fontSlices } from "@assay/ui/font-slices";
import { places as dashboardPlaces } from "../apps/dashboard/src/i18n/places.ts";
import { places } from "../apps/verify/src/i18n/messages.ts";
import { placesOf, textFaults, textsIn } from "./text-faults.ts";

const root = path.resolve(import.meta.dirname, "..");
const readJson = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8"));

/** A file for each language, and none that nothing loads. */
function filesIn(folder: string, languages: readonly string[]): Record<string, unknown> {
  assert.deepEqual(
    readdirSync(path.join(root, folder)).sort(),
    languages.map((language) => `${language}.json`).sort(),
    folder,
  );
  return Object.fromEntries(languages.map((language) => [language, readJson(`${folder}/${language}.json`)]));
}

type Consent = { title: unknown; paragraphs: unknown };
const consentTexts: Record<string, Consent> = readJson("apps/server/terms/consent-texts.json").texts;

/** Words that a language may share with English, or names. */
const alike = new Set(
  `
  (optional) | Action | Actions | Active | Agents | API | Branding | Chip | Code | Ctrl K | Desktop |
  Details | Domain | Domains | Exceptions | Guides | In {age} | Inactive | Installation | Integration
  | Invitation | Job | Live | Logo | Median | Menu | Name | Name: {name} | Normal | Notifications |
  Optional | Passkeys | Problem | sandbox | Sandbox | Schema | Secret | Session | Sessions | Source |
  Status | Support | Test | Type | Version | Version {version}, {hash} | Version {version}, {time} |
  VICAL | Webhook | Webhook: {event} | Webhooks | Website | {ago}, version {version} | {count} minute
  | {count} minutes | {count} worker | {count} workers | {field} (optional)
`
    .trim()
    .split(/\s*\|\s*/),
);
const page = filesIn("apps/verify/texts", pageLanguages);
const walletPart = filesIn("apps/verify/wallet-texts", pageLanguages);
const dashboard = filesIn("apps/dashboard/texts", dashboardLanguages);

const sets = {
  "the verify page": { languages: pageLanguages, texts: page },
  "the verify page's part for wallets": { languages: pageLanguages, texts: walletPart },
  "the dashboard": { languages: dashboardLanguages, texts: dashboard },
  "the warnings of evidence": {
    languages: dashboardLanguages,
    texts: { en: evidenceWarnings, ...filesIn("apps/dashboard/warning-texts", ["de", "fr"]) },
  },
  "the mails": { languages: mailLanguages, texts: filesIn("apps/server/texts/mails", mailLanguages) },
  "the page for a wrong address": {
    languages: pageLanguages,
    texts: readJson("apps/server/texts/missing-page.json"),
  },
  "the consent texts": {
    languages: pageLanguages,
    texts: Object.fromEntries(
      Object.entries(consentTexts).map(([language, { title, paragraphs }]) => [
        language,
        { title, paragraphs },
      ]),
    ),
  },
} satisfies Record<string, { languages: readonly string[]; texts: Record<string, unknown> }>;

for (const [name, { languages, texts }] of Object.entries(sets))
  test(`${name}: every language has every text of English, with its places and its own plural forms`, () => {
    assert.deepEqual(Object.keys(texts).sort(), [...languages].sort());
    const faults = languages.flatMap((language) =>
      textFaults(language, texts.en, texts[language] ?? {}, alike),
    );
    assert.deepEqual(faults, []);
  });

test("verify page and dashboard know the places of every text that has some", () => {
  for (const [texts, known] of [
    [page.en, places],
    [dashboard.en, dashboardPlaces],
  ] as const) {
    const found = textsIn(texts).flatMap(([path, text]) => {
      const names = placesOf(text ?? "");
      return names.length === 0 || path.includes("#") ? [] : [[path, names]];
    });
    assert.deepEqual(Object.fromEntries(found), known);
  }
  for (const [path, text] of textsIn(walletPart.en))
    assert.deepEqual(placesOf(text ?? ""), [], `nothing is filled in: ${path}`);
  // A single one may be a word.
  for (const [path, text] of [...textsIn(page.en), ...textsIn(dashboard.en)])
    if (path.includes("#") && !(path.endsWith("#one") && placesOf(text ?? "").length === 0))
      assert.deepEqual(placesOf(text ?? ""), ["count"], path);
});

/**
 * A button or a step's line has limited room. The limit was checked at 320 pixels: Finnish and Greek texts of
 * these lengths fit, while twice as much gives a button of three lines.
 */
const longest = (english: string) => Math.max(24, english.length * 1.9 + 8);
const inOneLine =
  /Button$|^step[A-Z]|^(copy|receipt(Show|Back|Print|Download)|cancel(Confirm|Back)|withdraw(Confirm|Keep)|returnStay|beginAgain|tryAgain|connectionRetry|face(Start|StartNow|Stop|UseCamera|SimulatedStart)|appOpen|appInstall|pickUse|frame\.(openTab|tabClose|movedStay)|otherNewCode|otherBack|counter\.here|pickAll|faceGentle\.(choose|back)|consentShow)/;
const walletButton =
  /^(choose\.back|ask\.(open|ageOpen|again|test|app|phone)|code\.show|none\.passport|browser\.again)$/;

test("the verify page: the text of a button is short enough for a narrow phone in every language", () => {
  for (const [texts, buttons] of [
    [page, inOneLine],
    [walletPart, walletButton],
  ] as const) {
    const english = new Map(textsIn(texts.en));
    for (const language of pageLanguages)
      for (const [path, text] of textsIn(texts[language]))
        if (buttons.test(path))
          assert.ok(
            (text ?? "").length <= longest(english.get(path) ?? ""),
            `${language}: ${path} is too long for a button: ${text}`,
          );
  }
});

test("Finnish says sinä, as Finnish services do, on every page and in the text that is agreed to", () => {
  const formal =
    /(?<!\p{L})(te|teidän|teidät|teille|teillä|teiltä|teistä|teitä|ette|älkää|voitte)(?!\p{L})/iu;
  const said = [page.fi, walletPart.fi, consentTexts.fi, sets["the page for a wrong address"].texts.fi];
  const found = said.flatMap((texts) => textsIn(texts).filter(([, text]) => formal.test(text ?? "")));
  assert.deepEqual(found, []);
});

test("the font has every letter of every language but Arabic, which the system writes", () => {
  const ranges = fontSlices.flatMap((slice) => [...slice.ranges]);
  for (const language of pageLanguages.filter((language) => directionOf(language) === "ltr"))
    for (const [path, text] of [...textsIn(page[language]), ...textsIn(walletPart[language])])
      for (const letter of text ?? "") {
        const code = letter.codePointAt(0) ?? 0;
        assert.ok(
          ranges.some(([from, to]) => code >= from && code <= to),
          `${language}: no part of the font has “${letter}” of ${path}`,
        );
      }
});

test("a fault that is planted in the texts of a language is named with the language and the key", () => {
  const english = {
    title: "Back to {name}",
    step: { read: "Read the {thing}" },
    left: { one: "{count} minute", other: "{count} minutes" },
    body: ["First.", "Second."],
  };
  const polish = {
    title: "Wróć do {name}",
    step: { read: "Odczytaj {thing}" },
    left: { one: "{count} minuta", few: "{count} minuty", many: "{count} minut", other: "{count} minuty" },
    body: ["Pierwszy.", "Drugi."],
  };
  const faultsOf = (change: object) => textFaults("pl", english, { ...polish, ...change });
  assert.deepEqual(faultsOf({}), []);
  const { many: _, ...withoutMany } = polish.left;
  const planted: [object, string][] = [
    [{ title: undefined }, "title is no text"],
    [{ step: {} }, "step.read is missing"],
    [{ step: { read: "Odczytaj {thing}", write: "Zapisz" } }, "step.write is not in English"],
    [{ body: ["Pierwszy."] }, "body.1 is missing"],
    [{ body: ["Pierwszy.", "Drugi.", "Trzeci."] }, "body.2 is not in English"],
    [{ title: "Wróć" }, "title has the places “”, English has “name”"],
    [{ title: "Wróć do {nazwa}" }, "title has the places “nazwa”, English has “name”"],
    [{ title: "Wróć do {name} {x}" }, "title has the places “name x”, English has “name”"],
    [{ left: withoutMany }, "left#many is missing"],
    [
      { left: { ...polish.left, two: "{count} minuty" } },
      "left#two is a form that the language does not have",
    ],
    [{ left: { ...polish.left, many: "minut" } }, "left#many has the places “”, English has “count”"],
    [{ title: "Back to {name}" }, "title was left in English: Back to {name}"],
    [{ title: " Wróć do {name}" }, "title is empty or has spaces around it"],
    [{ title: 7 }, "title is no text"],
  ];
  for (const [change, sentence] of planted) assert.ok(faultsOf(change).includes(`pl: ${sentence}`), sentence);
  assert.ok(faultsOf({ left: "{count} minut" }).includes("pl: left is not in English"));
  assert.ok(faultsOf({ title: { other: "Wróć do {name}" } }).includes("pl: title is missing"));
});
