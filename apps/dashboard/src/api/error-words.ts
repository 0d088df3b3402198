import { intlTag } from "../i18n/words.ts";

type Words = Readonly<Record<string, { message: string; hint: string }>>;

/** What the service says in English: by its code, or by the message where a code has several. Loaded with the first error. */
const files: Readonly<Record<string, () => Promise<{ default: Words }>>> = {
  de: () => import("../../error-texts/de.json", { with: { type: "json" } }),
  fr: () => import("../../error-texts/fr.json", { with: { type: "json" } }),
};
let words: Words = {};

export async function loadErrorWords(): Promise<void> {
  try {
    words = (await files[intlTag]?.())?.default ?? {};
  } catch {
    // The message is then shown as the service wrote it.
  }
}

/** Null where the service's own words have to do: they are English, or more precise than the code. */
export function errorWords(code: string, message: string): Words[string] | null {
  return words[message] ?? words[code] ?? null;
}
