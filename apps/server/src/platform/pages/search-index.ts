import type { ApiDocument } from "./api-document.ts";
import { documentNames, readDocument } from "./documents.ts";
import { groupsOf } from "./reference.ts";

/** A section of a page: the text to search, and its address. */
type Entry = { href: string; page: string; title: string; text: string };

/**
 * The text of all guides and the reference, split at headings. The browser searches it, so that no search
 * term leaves the browser.
 */
export function searchIndex(document: ApiDocument): Entry[] {
  return [...documentNames().flatMap(partsOf), ...operationsOf(document)];
}

function partsOf(name: string): Entry[] {
  const document = readDocument(name);
  if (document === null) return [];
  const parts = document.html.split(/(?=<h[23] id=")/);
  return parts.map((html) => {
    const heading = /^<h[23] id="([^"]+)">([\s\S]*?)<\/h[23]>/.exec(html);
    const text = plain(
      heading === null ? html.replace(/<h1[\s\S]*?<\/h1>/, "") : html.slice(heading[0].length),
    );
    return {
      href: `/docs/${name}${heading === null ? "" : `#${heading[1]}`}`,
      page: document.title,
      title: heading === null ? document.title : plain(heading[2] ?? ""),
      text,
    };
  });
}

function operationsOf(document: ApiDocument): Entry[] {
  return groupsOf(document).flatMap(({ title, name, entries }) =>
    entries.map(({ method, path, operation }) => ({
      href: `/reference/${name}#${operation.operationId}`,
      page: title,
      title: operation.summary,
      text: `${method} ${path} ${operation.operationId} ${operation.description}`,
    })),
  );
}

function plain(html: string): string {
  return html
    .replace(/<button[\s\S]*?<\/button>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(
      /&(lt|gt|amp|quot);/g,
      (_, name: string) => ({ lt: "<", gt: ">", amp: "&", quot: '"' })[name] ?? "",
    )
    .replace(/\s+/g, " ")
    .trim();
}
