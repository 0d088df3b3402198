import type { PageLanguage } from "@assay/contract/facts";
import { intlTag } from "../i18n/words.ts";

/** A language's name in the language of the page, capitalized as a list entry. */
export function languageName(language: PageLanguage): string {
  const name = new Intl.DisplayNames(intlTag, { type: "language" }).of(language) ?? language;
  return name.charAt(0).toUpperCase() + name.slice(1);
}
