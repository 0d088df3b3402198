import { type MessagesOf, readMessages, type TextsOf } from "@assay/ui/messages";
import type en from "../../texts/en.json";
import type { Language } from "./language.ts";
import type { places } from "./places.ts";

type Texts = TextsOf<typeof en>;
export type Messages = MessagesOf<typeof en, typeof places>;

/** Each language is a file of its own, and each user loads one of them. */
const files: Readonly<Record<Language, () => Promise<{ default: Texts }>>> = {
  en: () => import("../../texts/en.json", { with: { type: "json" } }),
  de: () => import("../../texts/de.json", { with: { type: "json" } }),
  fr: () => import("../../texts/fr.json", { with: { type: "json" } }),
};

/**
 * The words of the dashboard. They are loaded before the first page is drawn and stay the same until the document is loaded
 * again, so functions read them where they need them. A module must not read them while it is loaded itself.
 */
export let t: Messages;

/** The tag for `Intl`. English is written with the day before the month. */
export let intlTag = "en-GB";

export async function loadWords(language: Language): Promise<void> {
  const { default: texts } = await files[language]();
  t = readMessages(texts, { language }) as Messages;
  intlTag = language === "en" ? "en-GB" : language;
}
