import { type MessagesOf, readMessages } from "@assay/ui/messages";
import type en from "../../texts/en.json";
import type { Language } from "./language.ts";
import type { places } from "./places.ts";

export type Messages = MessagesOf<typeof en, typeof places>;

type Part = () => Promise<{ default: object }>;

/** Each language is a file of its own, which the build cuts in two: what the first screens show, and what the other pages do. */
const files: Readonly<Record<Language, { first: Part; later: Part }>> = {
  en: {
    first: () => import("../../texts/en.json?first", { with: { type: "json" } }),
    later: () => import("../../texts/en.json?later", { with: { type: "json" } }),
  },
  de: {
    first: () => import("../../texts/de.json?first", { with: { type: "json" } }),
    later: () => import("../../texts/de.json?later", { with: { type: "json" } }),
  },
  fr: {
    first: () => import("../../texts/fr.json?first", { with: { type: "json" } }),
    later: () => import("../../texts/fr.json?later", { with: { type: "json" } }),
  },
};

/**
 * The words of the dashboard. They are loaded before the first page is drawn and stay the same until the document is loaded
 * again, so functions read them where they need them. A module must not read them while it is loaded itself.
 */
export let t: Messages;

/** The tag for `Intl`. English is written with the day before the month. */
export let intlTag = "en-GB";

let spoken: Language = "en";

export async function loadWords(language: Language): Promise<void> {
  const { default: texts } = await files[language].first();
  t = readMessages(texts, { language }) as Messages;
  spoken = language;
  intlTag = language === "en" ? "en-GB" : language;
}

/** The words of the pages that are not shown first, beside those. */
export async function loadLaterWords(): Promise<void> {
  const { default: texts } = await files[spoken].later();
  t = { ...t, ...(readMessages(texts, { language: spoken }) as Messages) };
}
