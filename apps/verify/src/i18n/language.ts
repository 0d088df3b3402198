import type { PageLanguage, RequirementName } from "@assay/contract/facts";
import type { FailureCode } from "@assay/contract/sessions";
import { createContext, useContext } from "react";
import type { Messages } from "./en.ts";

export const languages = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
} as const satisfies Record<PageLanguage, string>;
export type Language = PageLanguage;

// Each person loads one of them.
const loaders: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => (await import("./en.ts")).en,
  de: async () => (await import("./de.ts")).de,
  fr: async () => (await import("./fr.ts")).fr,
  es: async () => (await import("./es.ts")).es,
};

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}

/** The first language of the browser that this page speaks, unless the person has chosen another. */
export function initialLanguage(chosen: string | null, wanted: readonly string[]): Language {
  if (chosen !== null && isLanguage(chosen)) return chosen;
  for (const tag of wanted) {
    const primary = tag.toLowerCase().split("-")[0] ?? "";
    if (isLanguage(primary)) return primary;
  }
  return "en";
}

/**
 * The language to begin with as the session has it, known once its details are: the one that the person agreed in, perhaps on another
 * device, then the partner's. Null leaves it as it is: the partner named none, or the person has chosen.
 */
export function sessionLanguage(
  chosen: boolean,
  { locale, consent }: { locale: Language | null; consent: { language: Language | null } | null },
): Language | null {
  if (chosen || locale === null) return null;
  return consent?.language ?? locale;
}

/** Why a field is asked for, in the person's language where the partner gave it. */
export function reasonIn(
  language: Language,
  { reason, reasons }: { reason: string; reasons?: Partial<Record<Language, string>> },
): string {
  return reasons?.[language] ?? reason;
}

/** What went wrong and what to do about it. */
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
  const t = await loaders[language]();
  const percents = new Intl.NumberFormat(language, { style: "percent" });
  const moments = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short" });
  return {
    language,
    t,
    percent: (part) => percents.format(part),
    moment: (time) => moments.format(new Date(time)),
  };
}

export const WordsContext = createContext<Words | null>(null);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (words === null) throw new Error("The words are not loaded");
  return words;
}

/** What a person is asked to share, in words. */
export function claimWords(t: Messages, key: string): { label: string; about: string | null } {
  const age = /^age_over_(\d+)$/.exec(key)?.[1];
  if (age !== undefined) return { label: t.claimAgeOver(Number(age)), about: t.claimAgeOverAbout };
  if (Object.hasOwn(t.claim, key)) {
    const known = key as keyof Messages["claim"];
    return { label: t.claim[known], about: key === "service_document_id" ? t.claimAbout[key] : null };
  }
  return { label: key, about: null };
}
