import { intlTag } from "../i18n/words.ts";

/** A label within a sentence. German nouns keep their capital, and French texts put a label in quotes. */
export function inSentence(label: string): string {
  return intlTag.startsWith("en") ? label.toLowerCase() : label;
}
