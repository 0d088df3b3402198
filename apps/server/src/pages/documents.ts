import { existsSync, readdirSync, readFileSync } from "node:fs";
import { marked, Renderer } from "marked";

const folder = new URL("../../../../docs/", import.meta.url);
const namePattern = /^[a-z0-9-]{1,60}$/;

export type Document = { name: string; title: string; html: string };

/** The guides in `docs/`, as people read them in the repository. */
export function readDocument(name: string): Document | null {
  const file = new URL(`${name}.md`, folder);
  if (!namePattern.test(name) || !existsSync(file)) return null;
  const text = readFileSync(file, "utf8");
  return { name, title: titleOf(text), html: render(text) };
}

export function listDocuments(): { name: string; title: string; summary: string }[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".md"))
    .map((file) => {
      const text = readFileSync(new URL(file, folder), "utf8");
      return { name: file.slice(0, -3), title: titleOf(text), summary: summaryOf(text) };
    })
    .sort((a, b) => (a.title < b.title ? -1 : 1));
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "Documentation";
}

/** The first sentence after the title. */
function summaryOf(text: string): string {
  const paragraph = text.split(/\n\s*\n/).find((block) => !/^[#|`<>-]/.test(block.trim())) ?? "";
  return /^.*?[.!?](?=\s|$)/s.exec(paragraph.trim())?.[0]?.replace(/\s+/g, " ").replace(/[`*]/g, "") ?? "";
}

function render(text: string): string {
  const renderer = new Renderer();
  renderer.heading = function heading({ tokens, depth, text: plain }) {
    // A heading that is an error code keeps its spelling: every error's `docs` link ends in it.
    const code = /^`?([A-Z][A-Z_]+)`?$/.exec(plain)?.[1];
    const id =
      code ??
      plain
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "");
    return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  };
  const table = renderer.table;
  renderer.table = function scrollingTable(token) {
    return `<div class="scroll" tabindex="0" role="group" aria-label="Table">${table.call(this, token)}</div>`;
  };
  renderer.link = function link({ href, tokens }) {
    const local = href.replace(/^(?:\.\/)?([a-z0-9-]+)\.md(#.*)?$/, "/docs/$1$2");
    return `<a href="${local}">${this.parser.parseInline(tokens)}</a>`;
  };
  return marked.parse(text, { renderer, async: false });
}
