import { type MessagesOf, readMessages } from "@assay/ui/messages";
import type en from "../../texts/en.json";
import type { Language } from "./language.ts";
import type { places } from "./places.ts";

export type Messages = MessagesOf<typeof en, typeof places>;

type Part = () => Promise<{ default: object }>;

/** The build splits the file of a language: the texts of the first screens, and all others. */
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
 * The texts of the dashboard. They load before the first page and stay until the document reloads. A module
 * must not read them while it loads.
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

/** The texts of the pages that are not shown first. */
export async function loadLaterWords(): Promise<void> {
  const { default: texts } = await files[spoken].later();
  t = { ...t, ...(readMessages(texts, { language: spoken }) as Messages) };
}
