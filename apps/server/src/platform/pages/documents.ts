import { existsSync, readdirSync, readFileSync } from "node:fs";
import { marked, Renderer, type Tokens } from "marked";
import { highlight } from "./highlight.ts";
import { escapeHtml } from "./layout.ts";
import { sections } from "./site.ts";

const folder = new URL("../../../../../docs/", import.meta.url);
/** Folders whose page is their README, which lists the other pages. */
const folders: readonly string[] = ["decisions", "runbooks"];
const namePattern = /^(?:(?:decisions|runbooks)\/)?[a-z0-9-]{1,80}$/;

export type Heading = { id: string; text: string; depth: number };
export type Document = {
  name: string;
  title: string;
  summary: string;
  markdown: string;
  html: string;
  headings: readonly Heading[];
};

function fileOf(name: string): URL {
  return new URL(folders.includes(name) ? `${name}/README.md` : `${name}.md`, folder);
}

/** The guides in `docs/`, as in the repository. */
export function readDocument(name: string): Document | null {
  const file = fileOf(name);
  if (!namePattern.test(name) || !existsSync(file)) return null;
  const markdown = readFileSync(file, "utf8");
  const { html, headings } = render(markdown, name);
  return { name, title: titleOf(markdown), summary: summaryOf(markdown), markdown, html, headings };
}

export type Listed = { name: string; title: string; summary: string };

let listed: readonly Listed[] | null = null;

/** Every guide, in the order of the site. For a folder, only its index. Read once: every page shows this list. */
export function listDocuments(): readonly Listed[] {
  listed ??= sections.flatMap(({ names }) => names.map(describe));
  return listed;
}

let allNames: readonly string[] | null = null;

/** The names of all pages, including those in folders. */
export function documentNames(): readonly string[] {
  allNames ??= findNames();
  return allNames;
}

function findNames(): string[] {
  const inside = folders.flatMap((name) =>
    readdirSync(new URL(`${name}/`, folder))
      .filter((file) => /^[a-z0-9].*\.md$/.test(file))
      .sort()
      .map((file) => `${name}/${file.slice(0, -3)}`),
  );
  return [...listDocuments().map(({ name }) => name), ...inside];
}

function describe(name: string): Listed {
  const text = readFileSync(fileOf(name), "utf8");
  return { name, title: titleOf(text), summary: summaryOf(text) };
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "Documentation";
}

function summaryOf(text: string): string {
  const paragraph = text.split(/\n\s*\n/).find((block) => !/^[#|`<>-]/.test(block.trim())) ?? "";
  const sentence = /^.*?[.!?](?=\s|$)/s.exec(paragraph.trim())?.[0] ?? "";
  return sentence
    .replace(/^At the end of this page,? (?:you know |you can |you have (?=an? ))?(.)/, (_, first: string) =>
      first.toUpperCase(),
    )
    .replace(/\s+/g, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]/g, "");
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<=\w)\.(?=\w)/g, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

function render(text: string, name: string): { html: string; headings: Heading[] } {
  const headings: Heading[] = [];
  const renderer = new Renderer();
  renderer.heading = function heading({ tokens, depth, text: plain }) {
    // An error code as a heading keeps its spelling, because the `docs` link of an error ends in it.
    const id = /^`?([A-Z][A-Z_]+)`?$/.exec(plain)?.[1] ?? slugOf(plain);
    const inner = this.parser.parseInline(tokens);
    if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
    headings.push({ id, depth, text: plain.replace(/[`*]/g, "") });
    return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
  };
  const table = renderer.table;
  renderer.table = function scrollingTable(token) {
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${table.call(this, token).replaceAll(/<th([^>]*)><\/th>/g, "<td$1></td>")}</div>`;
  };
  renderer.link = function link({ href, tokens }) {
    const inner = this.parser.parseInline(tokens);
    const local = addressOf(href, name);
    return local === null ? inner : `<a href="${escapeHtml(local)}">${inner}</a>`;
  };
  // A long name is divided where its words end, if anywhere.
  renderer.codespan = ({ text: code }) => `<code>${escapeHtml(code).replaceAll("_", "_<wbr>")}</code>`;
  renderer.code = (token) => codeBlock(token.text, languageOf(token));
  const tokens = marked.lexer(text);
  const html = marked.parser(groupTabs(tokens), { renderer });
  return { html: html.replace(/<p>(<div class="tabs"[\s\S]*?<\/div><!--tabs-->)<\/p>/g, "$1"), headings };
}

/** The address of a guide's link on the site; null for a repository file that the site does not show. */
function addressOf(href: string, from: string): string | null {
  if (/^(?:[a-z]+:|\/|#)/.test(href)) return href;
  const [within = ""] = from.split("/");
  const base = folders.includes(within) ? `/docs/${within}/x` : "/docs/x";
  const { pathname, hash } = new URL(href, `http://docs${base}`);
  const page = /^\/docs\/(.+)\.md$/.exec(pathname)?.[1]?.replace(/\/README$/, "");
  if (page === undefined || !namePattern.test(page) || !existsSync(fileOf(page))) return null;
  return `/docs/${page}${hash}`;
}

function languageOf(token: Pick<Tokens.Code, "lang">): string {
  return (token.lang ?? "").split(/\s/)[0] ?? "";
}

const languageNames: Readonly<Record<string, string>> = {
  sh: "curl",
  ts: "TypeScript",
  js: "JavaScript",
  tsx: "React",
  vue: "Vue",
  json: "JSON",
  python: "Python",
  go: "Go",
  java: "Java",
  php: "PHP",
  ruby: "Ruby",
  csharp: "C#",
};

/** A code sample. The button is shown if scripts run. */
export function codeBlock(code: string, language: string): string {
  return `<div class="sample"><button class="copy" type="button">Copy</button><pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;
}

/** Samples of the same thing in several languages. The first is shown; without scripts, all of them. */
export function tabs(id: string, samples: readonly { language: string; code: string }[]): string {
  const labels = samples.map(
    ({ language }, index) =>
      `<button type="button" role="tab" id="${id}-${index}" aria-controls="${id}-${index}-panel" aria-selected="${index === 0}"${index === 0 ? "" : ' tabindex="-1"'} data-language="${language}">${languageNames[language] ?? language}</button>`,
  );
  const panels = samples.map(
    ({ language, code }, index) =>
      `<div role="tabpanel" id="${id}-${index}-panel" aria-labelledby="${id}-${index}"${index === 0 ? "" : " hidden"}>${codeBlock(code, language)}</div>`,
  );
  return `<div class="tabs"><div role="tablist" aria-label="Language">${labels.join("")}</div>${panels.join("")}</div><!--tabs-->\n`;
}

/** Consecutive samples whose first line ends in `tab` become one group. */
function groupTabs(tokens: ReturnType<typeof marked.lexer>): typeof tokens {
  const grouped: typeof tokens = Object.assign([], { links: tokens.links });
  let group: Tokens.Code[] = [];
  let count = 0;
  const close = () => {
    if (group.length === 0) return;
    count += 1;
    const text = tabs(
      `tabs-${count}`,
      group.map((token) => ({ language: languageOf(token), code: token.text })),
    );
    grouped.push({ type: "html", block: true, raw: text, pre: false, text });
    group = [];
  };
  for (const token of tokens) {
    if (token.type === "code" && / tab\b/.test(token.lang ?? "")) group.push(token as Tokens.Code);
    else if (token.type === "space" && group.length > 0) continue;
    else {
      close();
      grouped.push(token);
    }
  }
  close();
  return grouped;
}
