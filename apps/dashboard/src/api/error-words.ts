import { intlTag } from "../i18n/words.ts";

type Words = Readonly<Record<string, { message: string; hint: string }>>;

/** Translated errors, by code, or by message if a code has several. Loaded with the first error. */
const files: Readonly<Record<string, () => Promise<{ default: Words }>>> = {
  de: () => import("../../error-texts/de.json", { with: { type: "json" } }),
  fr: () => import("../../error-texts/fr.json", { with: { type: "json" } }),
};
let words: Words = {};

export async function loadErrorWords(): Promise<void> {
  try {
    words = (await files[intlTag]?.())?.default ?? {};
  } catch {
    // The page then shows the service's message.
  }
}

/** Null if the service's message applies: it is in the page's language, or says more than the code. */
export function errorWords(code: string, message: string): Words[string] | null {
  return words[message] ?? words[code] ?? null;
}
