import type { PageLanguage } from "@assay/contract/facts";
import type { Texts } from "./messages.ts";

/** Each language is a file of its own, and each person loads one of them. */
const files: Readonly<Record<PageLanguage, () => Promise<Texts>>> = {
  en: async () => (await import("./en.ts")).en,
  bg: async () => (await import("./bg.ts")).bg,
  cs: async () => (await import("./cs.ts")).cs,
  da: async () => (await import("./da.ts")).da,
  de: async () => (await import("./de.ts")).de,
  el: async () => (await import("./el.ts")).el,
  es: async () => (await import("./es.ts")).es,
  et: async () => (await import("./et.ts")).et,
  fi: async () => (await import("./fi.ts")).fi,
  fr: async () => (await import("./fr.ts")).fr,
  ga: async () => (await import("./ga.ts")).ga,
  hr: async () => (await import("./hr.ts")).hr,
  hu: async () => (await import("./hu.ts")).hu,
  it: async () => (await import("./it.ts")).it,
  lt: async () => (await import("./lt.ts")).lt,
  lv: async () => (await import("./lv.ts")).lv,
  mt: async () => (await import("./mt.ts")).mt,
  nl: async () => (await import("./nl.ts")).nl,
  pl: async () => (await import("./pl.ts")).pl,
  pt: async () => (await import("./pt.ts")).pt,
  ro: async () => (await import("./ro.ts")).ro,
  sk: async () => (await import("./sk.ts")).sk,
  sl: async () => (await import("./sl.ts")).sl,
  sv: async () => (await import("./sv.ts")).sv,
  uk: async () => (await import("./uk.ts")).uk,
  tr: async () => (await import("./tr.ts")).tr,
  ar: async () => (await import("./ar.ts")).ar,
};

export function loadTexts(language: PageLanguage): Promise<Texts> {
  return files[language]();
}
