import { directionOf, type PageLanguage, type RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import { createContext, useContext } from "react";
import { loadTexts } from "./load-texts.ts";
import { intlTag, type Messages, messagesOf } from "./messages.ts";
import { pseudoTexts, wantsPseudo } from "./pseudo.ts";

/** Each by its own name, in the order of the alphabet of the letters that it is written in. */
export const languages = {
  cs: "Čeština",
  da: "Dansk",
  de: "Deutsch",
  et: "Eesti",
  en: "English",
  es: "Español",
  fr: "Français",
  ga: "Gaeilge",
  hr: "Hrvatski",
  it: "Italiano",
  lv: "Latviešu",
  lt: "Lietuvių",
  hu: "Magyar",
  mt: "Malti",
  nl: "Nederlands",
  pl: "Polski",
  pt: "Português",
  ro: "Română",
  sk: "Slovenčina",
  sl: "Slovenščina",
  fi: "Suomi",
  sv: "Svenska",
  tr: "Türkçe",
  el: "Ελληνικά",
  bg: "Български",
  uk: "Українська",
  ar: "العربية",
} as const satisfies Record<PageLanguage, string>;
export type Language = PageLanguage;

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}

/** The browser's first language that this page has, unless the person has chosen another. */
export function initialLanguage(chosen: string | null, wanted: readonly string[]): Language {
  if (chosen !== null && isLanguage(chosen)) return chosen;
  for (const tag of wanted) {
    const primary = tag.toLowerCase().split("-")[0] ?? "";
    if (isLanguage(primary)) return primary;
  }
  return "en";
}

/**
 * The session's initial language, known with its details: the one that the person agreed in, perhaps on
 * another device, then the partner's. Null keeps the current one: the partner named none, or the person has
 * chosen.
 */
export function sessionLanguage(
  chosen: boolean,
  { locale, consent }: { locale: Language | null; consent: { language: Language | null } | null },
): Language | null {
  if (chosen || locale === null) return null;
  return consent?.language ?? locale;
}

/**
 * The reason for a field, in the person's language if the partner gave it, and its language for screen
 * readers. An empty string is HTML's code for an unknown language: a single text of a partner has no declared
 * language.
 */
export function reasonIn(
  language: Language,
  { reason, reasons = {} }: { reason: string; reasons?: Partial<Record<string, string>> },
): { text: string; lang: string } {
  const own = reasons[language];
  if (own !== undefined) return { text: own, lang: language };
  const same = Object.keys(reasons).find((each) => reasons[each] === reason);
  return { text: reason, lang: same ?? "" };
}

/** The failure and what to do about it. */
export function failureWords(t: Messages, code: FailureCode, unmet: RequirementName | null) {
  return unmet === null ? t.failure[code] : t.unmet[unmet];
}

export type Words = {
  language: Language;
  t: Messages;
  percent(part: number): string;
  moment(time: string): string;
};

export async function loadWords(language: Language): Promise<Words> {
  const texts = await loadTexts(language);
  const tag = intlTag(language);
  const percents = new Intl.NumberFormat(tag, { style: "percent" });
  const moments = new Intl.DateTimeFormat(tag, { dateStyle: "long", timeStyle: "short" });
  return {
    language,
    t: messagesOf(wantsPseudo() ? pseudoTexts(texts) : texts, language),
    percent: (part) => percents.format(part),
    moment: (time) => moments.format(new Date(time)),
  };
}

/** Tells the browser and screen readers what the page is written in, and from which side. */
export function markLanguage(language: Language): void {
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

export const WordsContext = createContext<Words | null>(null);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (words === null) throw new Error("The words are not loaded");
  return words;
}

/** "0 attempts" is no way to say it in any language. */
export function triesWords(t: Messages, left: number): string {
  return left === 0 ? t.noTriesLeft : t.triesLeft(left);
}

/** A requested field, in words. */
export function claimWords(t: Messages, key: string): { label: string; about: string | null } {
  const age = /^age_over_(\d+)$/.exec(key)?.[1];
  if (age !== undefined) return { label: t.claimAgeOver(Number(age)), about: t.claimAgeOverAbout };
  if (Object.hasOwn(t.claim, key)) {
    const known = key as keyof Messages["claim"];
    return { label: t.claim[known], about: key === "service_document_id" ? t.claimAbout[key] : null };
  }
  return { label: key, about: null };
}
