import type { ApiDocument } from "./api-document.ts";
import { type Document, type Heading, type Listed, listDocuments, readDocument } from "./documents.ts";
import { escapeHtml, page, part } from "./layout.ts";
import { groupsOf, namedReferencePage, referenceIndex } from "./reference.ts";
import { referenceText } from "./reference-text.ts";
import { doors, partnerGuides, sections } from "./site.ts";

/** A guide with navigation, its headings, and the link to the next page. */
export function documentPage(document: Document): string {
  const all = listDocuments();
  const at = all.findIndex(({ name }) => name === document.name);
  return page({
    title: `${document.title} · Assay`,
    summary: document.summary,
    markdown: `/docs/${document.name}.md`,
    part: "/docs",
    sidebar: guides(document.name),
    ...contentsOf(document.headings),
    body: `${inParts(document.html)}${at === -1 ? "" : turn(all[at - 1] ?? null, all[at + 1] ?? null)}<p class="other"><a href="/docs/${document.name}.md">This page as text</a></p>`,
  });
}

function inParts(html: string): string {
  const [beginning = "", ...parts] = html.split(/(?=<h2 id=")/);
  return beginning + parts.map((text) => part(text)).join("\n");
}

export function documentIndex(): string {
  const parts = sections.map(({ title, names }) => {
    const cards = listDocuments()
      .filter(({ name }) => names.includes(name))
      .map(card);
    return `<h2 id="${anchorOf(title)}">${title}</h2><ul class="cards">${cards.join("")}</ul>`;
  });
  const ways = doors.map(
    ({ title, about }) =>
      `<li><a href="#${anchorOf(title)}"><strong>${title}</strong><span>${about}</span></a></li>`,
  );
  return page({
    title: "Docs · Assay",
    part: "/docs",
    sidebar: guides(null),
    body: `<h1>Docs</h1><p class="lead">New here? <a href="/docs/first-verification">The quickstart</a> takes you from a fresh installation to claims that you can read. The routes are in the <a href="/reference">reference</a>.</p><ul class="cards">${ways.join("")}</ul>${parts.join("\n")}`,
  });
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(" ", "-");
}

/** Null if the reference has no such page; the first page has no name. */
export function referencePage(document: ApiDocument, name: string): string | null {
  const found = name === "" ? referenceIndex(document) : namedReferencePage(document, name);
  if (found === null) return null;
  const order = [
    { title: "Overview", name: "" },
    ...groupsOf(document).map((group) => ({ title: group.title, name: group.name })),
    { title: "Schemas", name: "schemas" },
  ];
  const items = order.map((entry) =>
    link(`/reference${entry.name === "" ? "" : `/${entry.name}`}`, entry.title, entry.name === name),
  );
  const at = order.findIndex((entry) => entry.name === name);
  const other = (entry: { title: string; name: string } | undefined): Listed | null =>
    entry === undefined ? null : { ...entry, summary: "" };
  return page({
    title: `${found.title} · ${name === "" ? "" : "API reference · "}Assay`,
    summary: found.summary,
    markdown: `/reference${name === "" ? "" : `/${name}`}.md`,
    part: "/reference",
    sidebar: `<h2>Reference</h2><ul>${items.join("")}</ul><h2>Beside it</h2><ul>${link("/docs/errors", "Error codes", false)}${link("/docs/generated-clients", "Generated clients", false)}${link("/openapi", "OpenAPI document", false)}</ul>`,
    ...contentsOf(found.headings),
    body: `${found.html}${turn(other(order[at - 1]), other(order[at + 1]), "/reference")}`,
  });
}

export function missingPage(): string {
  return page({
    title: "Not found · Assay",
    part: "/docs",
    sidebar: guides(null),
    body: `<h1>Page not found</h1><p class="lead">It may have moved. Search for it above, or begin with one of these.</p><ul class="cards">${listDocuments().slice(0, 3).map(card).join("")}</ul>`,
  });
}

/** `/llms.txt`: the list of pages, for programs that read text. */
export function pageIndexForAgents(document: ApiDocument, publicUrl: string): string {
  const listed = listDocuments();
  const guidesOf = (names: readonly string[]) =>
    listed
      .filter(({ name }) => names.includes(name))
      .map(({ name, title, summary }) => `- [${title}](/docs/${name}.md): ${summary}`);
  return [
    "# Assay",
    "",
    "> Self-hosted identity verification. A partner creates a session over a REST API, the person reads the chip of their passport and shows their face, and the claims arrive at the partner's webhook, encrypted to the partner's own key. Who the person is never stays on the service.",
    "",
    `The base address is ${publicUrl}, and routes begin with \`/v1\`. Every answer is \`{ data, error }\`. Requests are strict, replies are open. Every page below \`/docs\` and \`/reference\` is also there as markdown: add \`.md\`, or send \`Accept: text/markdown\`.`,
    "",
    "An API key is sent as `Authorization: Bearer kk_…`. A member of an organization makes one in the dashboard (`/dashboard`) under API keys; begin with one of the sandbox. Without a dashboard it takes three requests: `POST /v1/auth/sign-up/email`, then with its token `POST /v1/auth/orgs` and `POST /v1/auth/api-keys`; [First verification](/docs/first-verification.md) has them.",
    "",
    "With a key, an agent needs no checkout: `/mcp` has the API as tools, test sessions included ([Agents](/docs/agents.md)). With HTTP alone, [this script](/docs/agents.md#with-http-alone) goes from nothing to decrypted claims. All guides and the reference for partners in one text: [/llms-full.txt](/llms-full.txt).",
    "",
    ...sections.flatMap(({ title, names }) => [`## ${title}`, "", ...guidesOf(names), ""]),
    "## API",
    "",
    `- [OpenAPI 3.1 document](/openapi): version ${document.info.version}, every route with schemas, examples and errors`,
    "- [OpenAPI document for partners](/openapi/partner.json): only what an API key can call; [as a collection](/postman/partner.json) for Postman and Bruno",
    "- [AsyncAPI document](/asyncapi): events, and the socket of reading devices. The JSON Schema of an event is at `/schemas/events/TYPE.json`",
    ...groupsOf(document).map(
      ({ title, name, summary }) => `- [${title}](/reference/${name}.md): ${summary}`,
    ),
    "",
  ].join("\n");
}

/** The guides for partners and the reference of these operations, in one text. */
export function guidesForAgents(document: ApiDocument): string {
  const guides = partnerGuides.map((name) => readDocument(name)?.markdown ?? "");
  const reference = groupsOf(document).map(({ name }) => referenceText(document, name) ?? "");
  return [...guides, ...reference].join("\n\n---\n\n");
}

function card({ name, title, summary }: Listed): string {
  return `<li><a href="/docs/${name}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(summary)}</span></a></li>`;
}

function guides(current: string | null): string {
  const listed = listDocuments();
  const chosen = current?.split("/")[0] ?? null;
  return sections
    .map(({ title, names }) => {
      const items = listed
        .filter(({ name }) => names.includes(name))
        .map((entry) => link(`/docs/${entry.name}`, entry.title, entry.name === chosen));
      return `<h2>${title}</h2><ul>${items.join("")}</ul>`;
    })
    .join("");
}

function link(href: string, title: string, current: boolean): string {
  return `<li><a href="${href}"${current ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`;
}

/** Empty for a page without headings. */
function contentsOf(headings: readonly Heading[]): { contents?: string } {
  const shown = headings.filter(({ depth }) => depth <= 3);
  const items = shown.map(
    ({ id, text, depth }) =>
      `<li${depth === 3 ? ' class="deeper"' : ""}><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return items.length === 0 ? {} : { contents: `<h2>On this page</h2><ul>${items.join("")}</ul>` };
}

function turn(before: Listed | null, after: Listed | null, folder = "/docs"): string {
  const to = ({ name, title }: Listed, rel: string, word: string) =>
    `<a rel="${rel}" href="${folder}${name === "" ? "" : `/${name}`}"><span>${word}</span>${escapeHtml(title)}</a>`;
  return `<nav class="turn" aria-label="Previous and next">${before === null ? "" : to(before, "prev", "Previous")}${after === null ? "" : to(after, "next", "Next")}</nav>`;
}
