import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fontsCss } from "@assay/ui/font-slices";
import { tokensCss } from "@assay/ui/tokens";

/** Where the files of the font are served, from which folder, and their names. */
export const fontFolder = "/assets/fonts/";
export const readFont = (file: string): Buffer =>
  readFileSync(fileURLToPath(import.meta.resolve(`@assay/ui/fonts/${file}`)));

/** How long a part of a page may be guessed to be. A guess is at most half too long; one that is too short would have its part lie over the next for programs that measure. */
const guessedLines = [8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768] as const;

/** The styles of these pages, after the tokens that they share with everything else that people see. */
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

/** A page of the service itself. `body` is our own HTML; whatever comes from elsewhere is escaped before it gets here. */
export function page(options: {
  title: string;
  body: string;
  /** Of the page in its own words, for search machines and previews. */
  summary?: string;
  /** Where the same is to be had as text. */
  markdown?: string;
  /** What stands beside the text: links to the other pages, and to the parts of this one. */
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

/** A page in the reader's language, without the search and the links, which are English, and without a script. */
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
 * A part of a page that is laid out by itself. Until then it takes the room of about as many lines as it has on a phone: what follows moves by what that is wrong, where nobody looks.
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
