import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fontsCss } from "@assay/ui/font-slices";
import { tokensCss } from "@assay/ui/tokens";

/** Where the font files are served, their folder and their names. */
export const fontFolder = "/assets/fonts/";
export const readFont = (file: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`@assay/ui/fonts/${file}`)));

/**
 * Estimated heights of a section, in lines. An estimate is at most half too long; one that is too short would
 * make programs that measure see overlapping sections.
 */
const guessedLines = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768] as const;

/** The styles of these pages, after the shared tokens. */
export const stylesheet = (): string =>
  [
    tokensCss(),
    fontsCss(fontFolder),
    readFileSync(new URL("pages.css", import.meta.url), "utf8"),
    ...guessedLines.map((lines) => `.lines-${lines} { --lines: ${lines}; }\n`),
  ].join("");
export const script = (): string => readFileSync(new URL("pages.js", import.meta.url), "utf8");

const parts = [
  ["/docs", "Docs"],
  ["/reference", "Reference"],
  ["/dashboard", "Dashboard"],
] as const;

const search = `<search class="search" hidden><label><span class="unseen">Search the docs</span><input type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-controls="found"></label><div id="found" hidden><p role="status"></p><ul></ul></div></search>`;

/** A page of the service. `body` is trusted HTML: all other content must be escaped before. */
export function page(options: {
  title: string;
  body: string;
  /** The summary of the page, for search engines and previews. */
  summary?: string;
  /** The address of the same page as text. */
  markdown?: string;
  /** The navigation: links to the other pages, and to the sections of this one. */
  sidebar?: string;
  contents?: string;
  part?: (typeof parts)[number][0];
  wide?: boolean;
}): string {
  const { title, body, summary, markdown, sidebar, contents, part } = options;
  const shape = sidebar === undefined ? (options.wide ? "wide" : "") : "framed";
  const main = `<main id="content"${shape === "wide" ? ' class="wide"' : ""}>\n${body}\n</main>`;
  return `<!doctype html>
<html lang="en">
<head>
${headOf(title)}${summary === undefined ? "" : `\n<meta name="description" content="${escapeHtml(summary)}">`}${markdown === undefined ? "" : `\n<link rel="alternate" type="text/markdown" href="${markdown}">`}
<script src="/assets/pages.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
${brand}
${search}
<nav aria-label="Main">${parts.map(([href, name]) => `<a href="${href}"${href === part ? ' aria-current="true"' : ""}>${name}</a>`).join("")}</nav>
</header>
${
  sidebar === undefined
    ? main
    : `<div class="frame">
<nav class="sidebar" aria-label="Pages"><details><summary>All pages</summary>${sidebar}</details></nav>
${main}
${contents === undefined ? "" : `<nav class="contents" aria-label="On this page">${contents}</nav>`}
</div>`
}
</body>
</html>
`;
}

const brand = `<a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="28" height="28">Assay</a>`;

function headOf(title: string): string {
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="preload" href="${fontFolder}inter-latin.woff2" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="/assets/pages.css">`;
}

/**
 * A page in the reader's language, without a script and without the search and the links, which are English.
 */
export function plainPage(options: {
  language: string;
  direction: "ltr" | "rtl";
  title: string;
  body: string;
}): string {
  return `<!doctype html>
<html lang="${options.language}" dir="${options.direction}">
<head>
${headOf(options.title)}
</head>
<body>
<header>
${brand}
</header>
<main id="content" class="plain">
${options.body}
</main>
</body>
</html>
`;
}

/**
 * A section that the browser lays out only when it is near the screen. Until then it has its estimated height
 * on a phone, so the layout shifts only off screen.
 */
export function part(html: string, attributes = ""): string {
  const shown = html.replace(/<div role="tabpanel"[^>]* hidden>[\s\S]*?<\/pre>/g, "");
  const codeLines = [...shown.matchAll(/<pre[\s\S]*?<\/pre>/g)].flatMap(([code]) => code.split("\n")).length;
  const words = shown.replace(/<pre[\s\S]*?<\/pre>/g, "").replace(/<[^>]*>/g, "").length / 40;
  const blocks = shown.match(/<(?:p|li|tr|pre|h\d)\b/g)?.length ?? 0;
  const lines = codeLines + words + blocks + 3;
  const guess = guessedLines.find((guessed) => guessed >= lines) ?? 768;
  return `<section class="part lines-${guess}"${attributes}>${html}</section>`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#1f4d3a"/><path d="M9 22.5 16 8l7 14.5M12 17.5h8" fill="none" stroke="#f3e9c9" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
