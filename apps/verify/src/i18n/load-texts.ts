import type { PageLanguage } from "@assay/contract/facts";
import type { Texts } from "./messages.ts";

/** Each language is a separate file, and each person loads one. */
const files: Readonly<Record<PageLanguage, () => Promise<{ default: Texts }>>> = {
  en: () => import("../../texts/en.json", { with: { type: "json" } }),
  bg: () => import("../../texts/bg.json", { with: { type: "json" } }),
  cs: () => import("../../texts/cs.json", { with: { type: "json" } }),
  da: () => import("../../texts/da.json", { with: { type: "json" } }),
  de: () => import("../../texts/de.json", { with: { type: "json" } }),
  el: () => import("../../texts/el.json", { with: { type: "json" } }),
  es: () => import("../../texts/es.json", { with: { type: "json" } }),
  et: () => import("../../texts/et.json", { with: { type: "json" } }),
  fi: () => import("../../texts/fi.json", { with: { type: "json" } }),
  fr: () => import("../../texts/fr.json", { with: { type: "json" } }),
  ga: () => import("../../texts/ga.json", { with: { type: "json" } }),
  hr: () => import("../../texts/hr.json", { with: { type: "json" } }),
  hu: () => import("../../texts/hu.json", { with: { type: "json" } }),
  it: () => import("../../texts/it.json", { with: { type: "json" } }),
  lt: () => import("../../texts/lt.json", { with: { type: "json" } }),
  lv: () => import("../../texts/lv.json", { with: { type: "json" } }),
  mt: () => import("../../texts/mt.json", { with: { type: "json" } }),
  nl: () => import("../../texts/nl.json", { with: { type: "json" } }),
  pl: () => import("../../texts/pl.json", { with: { type: "json" } }),
  pt: () => import("../../texts/pt.json", { with: { type: "json" } }),
  ro: () => import("../../texts/ro.json", { with: { type: "json" } }),
  sk: () => import("../../texts/sk.json", { with: { type: "json" } }),
  sl: () => import("../../texts/sl.json", { with: { type: "json" } }),
  sv: () => import("../../texts/sv.json", { with: { type: "json" } }),
  uk: () => import("../../texts/uk.json", { with: { type: "json" } }),
  tr: () => import("../../texts/tr.json", { with: { type: "json" } }),
  ar: () => import("../../texts/ar.json", { with: { type: "json" } }),
};

export async function loadTexts(language: PageLanguage): Promise<Texts> {
  return (await files[language]()).default;
}
