import type { PageLanguage } from "@assay/contract/facts";
import { intlTag } from "../i18n/words.ts";

/** The name of a language in that of the page, with a capital letter as an entry of a list. */
export function languageName(language: PageLanguage): string {
  const name = new Intl.DisplayNames(intlTag, { type: "language" }).of(language) ?? language;
  return name.charAt(0).toUpperCase() + name.slice(1);
}
