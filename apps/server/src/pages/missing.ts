import { directionOf, type PageLanguage } from "@assay/contract/facts";
import { escapeHtml, plainPage } from "./layout.ts";
import { missingTexts } from "./missing-texts.ts";

/** For somebody who opened an address that leads nowhere, be it a link to a verification that lost its end. */
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
