import type { DashboardLanguage } from "@assay/contract/facts";

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
  try {
    return window.localStorage.getItem(storageKey);
  } catch {
    // Storage can be turned off; the browser's language then decides.
    return null;
  }
}

/** Reloads the page, because a page has one language from its first text on. */
export function chooseLanguage(language: Language): void {
  try {
    window.localStorage.setItem(storageKey, language);
  } catch {
    return;
  }
  window.location.reload();
}
