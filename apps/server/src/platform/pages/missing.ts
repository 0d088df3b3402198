import { directionOf, type PageLanguage } from "@assay/contract/facts";
import texts from "../../../texts/missing-page.json" with { type: "json" };
import { escapeHtml, plainPage } from "./layout.ts";

/** In every language of the verify page, because its links are the ones that get mistyped or cut off. */
const missingTexts: Readonly<Record<PageLanguage, { title: string; text: string; home: string }>> = texts;

/** For a visitor who opened an unknown address, such as an incomplete verification link. */
export function nothingHerePage(language: PageLanguage): string {
  const { title, text, home } = missingTexts[language];
  return plainPage({
    language,
    direction: directionOf(language),
    title: `${title} · Assay`,
    body: `<h1>${escapeHtml(title)}</h1>
<p class="lead">${escapeHtml(text)}</p>
<p class="actions"><a class="action main" href="/">${escapeHtml(home)}</a></p>`,
  });
}
