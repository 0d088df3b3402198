import type { DashboardLanguage } from "@assay/contract/facts";
import { readStored, store } from "../state/stored.ts";

/** Each by its own name. */
export const languages = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
} as const satisfies Record<DashboardLanguage, string>;
export type Language = DashboardLanguage;

const storageKey = "assay.language";

function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}

/** The language that the user has chosen, or the first of the browser's that the dashboard speaks. */
export function initialLanguage(chosen: string | null, wanted: readonly string[]): Language {
  if (chosen !== null && isLanguage(chosen)) return chosen;
  for (const tag of wanted) {
    const primary = tag.toLowerCase().split("-")[0] ?? "";
    if (isLanguage(primary)) return primary;
  }
  return "en";
}

export function chosenLanguage(): string | null {
  return readStored(storageKey);
}

/** Reloads the page, because a page has one language from its first text on. */
export function chooseLanguage(language: Language): void {
  if (store(storageKey, language)) window.location.reload();
}
