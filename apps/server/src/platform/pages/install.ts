import { directionOf, type PageLanguage } from "@assay/contract/facts";
import texts from "../../../texts/install-page.json" with { type: "json" };
import { escapeHtml, plainPage } from "./layout.ts";

type InstallText = (typeof texts)["en"];
const installTexts: Readonly<Record<PageLanguage, InstallText>> = texts;

export const appFilePath = "/app.apk";

export type InstallPlaces = {
  /** A store, a page of the operator's, or the file that the service provides; null without an app. */
  android: { kind: "store"; url: string } | { kind: "file"; url: string } | null;
  iosUrl: string | null;
};

/** How to install the app that reads documents, in every language of the verify page, which links here. */
export function installPage(language: PageLanguage, { android, iosUrl }: InstallPlaces): string {
  const text = installTexts[language];
  return plainPage({
    language,
    direction: directionOf(language),
    title: `${text.title} · Assay`,
    body: `<h1>${escapeHtml(text.title)}</h1>
<p class="lead">${escapeHtml(text.lead)}</p>
${android === null ? "" : androidPart(android, text)}
<h2 lang="en">iPhone</h2>
${iosUrl === null ? `<p>${escapeHtml(text.iphone)}</p>` : button(iosUrl, text.iphoneStore)}`,
  });
}

function androidPart({ kind, url }: NonNullable<InstallPlaces["android"]>, text: InstallText): string {
  const title = `<h2 lang="en">Android</h2>`;
  if (kind === "store") return `${title}\n${button(url, text.store)}`;
  const steps = [text.step1, text.step2, text.step3].map(
    (step, index) => `<li>${pictures[index]}<p>${escapeHtml(step)}</p></li>`,
  );
  return `${title}
${button(url, text.download)}
<ol class="pictured">${steps.join("\n")}</ol>
<p>${escapeHtml(text.after)}</p>
<p class="note">${escapeHtml(text.blocked)}</p>`;
}

function button(url: string, words: string): string {
  return `<p class="actions"><a class="action main" href="${escapeHtml(url)}">${escapeHtml(words)}</a></p>`;
}

/** A phone with a symbol on its screen. The text beside it says the same, so it is decorative. */
const phone = (screen: string) =>
  `<svg viewBox="0 0 96 120" width="96" height="120" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"><rect x="18" y="4" width="60" height="112" rx="10"/><path d="M42 12h12" />${screen}</svg>`;

const pictures = [
  // An arrow into a tray.
  phone('<path class="shown" d="M48 34v34M34 55l14 14 14-14M32 84h32"/>'),
  // A row with a switch that is on.
  phone(
    '<path d="M28 36h40M28 88h28"/><rect class="shown" x="28" y="52" width="40" height="20" rx="10"/><circle class="filled" cx="58" cy="62" r="6"/>',
  ),
  // A document in front of the phone, with the waves of its chip and a tick.
  phone(
    '<path d="M34 34h28v34H34zM42 44h12"/><path class="shown" d="M40 92l6 6 12-14"/><path class="shown" d="M84 40c5 7 5 17 0 24M12 40c-5 7-5 17 0 24"/>',
  ),
] as const;
