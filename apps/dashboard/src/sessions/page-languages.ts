import type { PageLanguage } from "@assay/contract/facts";

export const pageLanguageNames: Record<PageLanguage, string> = {
  en: "English",
  de: "German",
  fr: "French",
  es: "Spanish",
};
