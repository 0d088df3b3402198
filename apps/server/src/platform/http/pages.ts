import { describeMessages } from "@assay/contract/asyncapi";
import { describeEvent, eventSchemaPath } from "@assay/contract/event-schema";
import { eventTypes } from "@assay/contract/events";
import { describeApi } from "@assay/contract/openapi";
import { describeCollection } from "@assay/contract/postman";
import { takesApiKey } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { fontSlices } from "@assay/ui/font-slices";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError, badField } from "../kernel/api-error.ts";
import type { ApiDocument } from "../pages/api-document.ts";
import { type Document, documentNames, readDocument } from "../pages/documents.ts";
import { embedScript, embedTypes } from "../pages/embed.ts";
import {
  documentIndex,
  documentPage,
  guidesForAgents,
  missingPage,
  pageIndexForAgents,
  referencePage,
} from "../pages/frame.ts";
import { fontFolder, icon, readFont, script, stylesheet } from "../pages/layout.ts";
import { groupsOf } from "../pages/reference.ts";
import { referenceText } from "../pages/reference-text.ts";
import { searchIndex } from "../pages/search-index.ts";
import { movedPages } from "../pages/site.ts";
import { type StartFacts, startPage } from "../pages/start.ts";
import { FixedContent } from "./fixed-content.ts";
import { isOpenedByBrowser } from "./missing-page.ts";
import { pageHeaders } from "./page-headers.ts";
import { packageArchive, partnerPackages } from "./partner-packages.ts";

const html = "text/html; charset=utf-8";
const json = "application/json; charset=utf-8";
const text = "text/plain; charset=utf-8";
const markdown = "text/markdown; charset=utf-8";

let described: ApiDocument | null = null;

/** Described once: each page of the reference is a part of it. */
function document(): ApiDocument {
  described ??= describeApi(routes) as unknown as ApiDocument;
  return described;
}

function partnerDocument(): ApiDocument {
  return describeApi(routes.filter(takesApiKey), { audience: "partner" }) as unknown as ApiDocument;
}

type Headers = Readonly<Record<string, string>>;
type Pages = ReturnType<typeof openPages>;

const asAsset = { "cache-control": "public, max-age=3600" };
const asDescription = { "cache-control": "no-cache", "access-control-allow-origin": "*" };

/** Start page, guides, API description and reference. They need neither a database nor another host. */
export function mountPages(app: FastifyInstance, start: () => StartFacts): void {
  const pages = openPages(app);
  const { serve } = pages;
  serve("/", html, pageHeaders.text, () => startPage(start()));
  serve("/assets/pages.css", "text/css; charset=utf-8", asAsset, stylesheet);
  serve("/assets/pages.js", "text/javascript; charset=utf-8", asAsset, script);
  for (const { file } of fontSlices)
    serve(`${fontFolder}${file}`, "font/woff2", asAsset, () => readFont(file));
  serve("/assets/icon.svg", "image/svg+xml", asAsset, () => icon);
  serve("/assets/search.json", json, asAsset, () => JSON.stringify(searchIndex(document())));
  for (const { paths, type = json, describe } of machineDocuments(() => start().publicUrl))
    for (const path of paths) serve(path, type, asDescription, () => JSON.stringify(describe()));
  serve("/llms.txt", text, asDescription, () => pageIndexForAgents(document(), start().publicUrl));
  serve("/llms-full.txt", text, asDescription, () => guidesForAgents(partnerDocument()));
  // Pages of any origin load it, with or without an integrity hash.
  const forPartners = {
    ...asAsset,
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
  };
  serve("/embed/v1.js", "text/javascript; charset=utf-8", forPartners, embedScript);
  serve("/embed/v1.d.ts", text, forPartners, embedTypes);
  mountApiDocuments(app, pages);
  mountPackages(app, asDescription);
  mountGuides(app, pages, start);
  mountReference(app, pages);
}

/** Contents are created on first request and kept: they do not change while the process runs. */
function openPages(app: FastifyInstance) {
  const contents = new Map<string, FixedContent>();
  const contentOf = (path: string, type: string, make: () => string | Buffer): FixedContent => {
    const content = contents.get(path) ?? new FixedContent(type, make());
    contents.set(path, content);
    return content;
  };
  const serve = (path: string, type: string, headers: Headers, make: () => string | Buffer) =>
    app.get(path, async (request, reply) =>
      contentOf(path, type, make).send(request, reply.headers(headers)),
    );
  /** A page, or its text for a client that requests it by `.md` or `Accept`. */
  const sendEither = (
    { request, reply, path }: { request: FastifyRequest; reply: FastifyReply; path: string },
    make: { html: () => string; markdown: () => string },
  ) => {
    reply.header("vary", "accept");
    return path.endsWith(".md") || prefersMarkdown(request.headers.accept)
      ? contentOf(`${path.replace(/\.md$/, "")}.md`, markdown, make.markdown).send(
          request,
          reply.headers(asDescription),
        )
      : contentOf(path, html, make.html).send(request, reply.headers(pageHeaders.text));
  };
  return { contentOf, serve, sendEither };
}

/** The OpenAPI document, complete and for partners. */
function mountApiDocuments(app: FastifyInstance, { contentOf, serve }: Pages): void {
  const partnerPath = "/openapi/partner.json";
  const forPartnersOnly = () => JSON.stringify(partnerDocument());
  for (const path of ["/openapi", "/openapi.json"])
    app.get<{ Querystring: { audience?: unknown } }>(path, async (request, reply) => {
      const { audience } = request.query;
      if (audience !== undefined && audience !== "partner")
        throw badField("audience", "must be `partner` or absent; without it the document has every route");
      const content =
        audience === undefined
          ? contentOf("/openapi", json, () => JSON.stringify(document()))
          : contentOf(partnerPath, json, forPartnersOnly);
      return content.send(request, reply.headers(asDescription));
    });
  serve(partnerPath, json, asDescription, forPartnersOnly);
}

function mountGuides(app: FastifyInstance, { sendEither }: Pages, start: () => StartFacts): void {
  for (const path of ["/docs", "/docs.md"])
    app.get(path, async (request, reply) =>
      sendEither(
        { request, reply, path },
        { html: documentIndex, markdown: () => pageIndexForAgents(document(), start().publicUrl) },
      ),
    );
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    const asked = request.params["*"].replace(/\/$/, "");
    const name = asked.replace(/\.md$/, "");
    const moved = movedPages.get(name);
    if (moved !== undefined) return reply.redirect(`/docs/${moved}${asked.slice(name.length)}`, 301);
    if (!documentNames().includes(name)) return sendMissingGuide(request, reply);
    return sendEither(
      { request, reply, path: `/docs/${asked}` },
      { html: () => documentPage(guide(name)), markdown: () => guide(name).markdown },
    );
  });
}

function mountReference(app: FastifyInstance, { sendEither }: Pages): void {
  const send = (request: FastifyRequest, reply: FastifyReply, path: string, name: string) =>
    sendEither(
      { request, reply, path },
      {
        html: () => referencePage(document(), name) ?? "",
        markdown: () => referenceText(document(), name) ?? "",
      },
    );
  for (const path of ["/reference", "/reference.md"])
    app.get(path, async (request, reply) => send(request, reply, path, ""));
  // Created on first request: describing all routes takes longer than the rest.
  let names: ReadonlySet<string> | null = null;
  app.get<{ Params: { name: string } }>("/reference/:name", async (request, reply) => {
    const asked = request.params.name;
    const name = asked.replace(/\.md$/, "");
    names ??= new Set([...groupsOf(document()).map((group) => group.name), "schemas"]);
    if (!names.has(name)) return sendMissingGuide(request, reply);
    return send(request, reply, `/reference/${asked}`, name);
  });
}

/** A guide that was listed; its file may be gone since. */
function guide(name: string): Document {
  const found = readDocument(name);
  if (found === null) throw new ApiError("NOT_FOUND", { message: "There is no such page." });
  return found;
}

/** Documents for machines besides OpenAPI: messages, single events and a collection of requests. */
function machineDocuments(
  publicUrl: () => string,
): { paths: string[]; type?: string; describe: () => object }[] {
  return [
    { paths: ["/asyncapi", "/asyncapi.json"], describe: describeMessages },
    {
      paths: ["/postman/partner.json"],
      describe: () => describeCollection(routes.filter(takesApiKey), publicUrl()),
    },
    ...eventTypes.map((event) => ({
      paths: [eventSchemaPath(event)],
      type: "application/schema+json; charset=utf-8",
      describe: () => describeEvent(event, publicUrl()),
    })),
  ];
}

function mountPackages(app: FastifyInstance, headers: Headers): void {
  for (const name of partnerPackages) {
    let made: FixedContent | null = null;
    app.get(`/${name}.tgz`, async (request, reply) => {
      made ??= new FixedContent("application/gzip", await packageArchive(name));
      return made.send(request, reply.headers(headers));
    });
  }
}

/** Browsers accept HTML or anything. A client that accepts markdown but not HTML wants text. */
function prefersMarkdown(accept = ""): boolean {
  return /\btext\/markdown\b/.test(accept) && !/\btext\/html\b/.test(accept);
}

/** A browser that requests an unknown guide gets the list of guides; other clients get the envelope. */
async function sendMissingGuide(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!isOpenedByBrowser(request)) throw new ApiError("NOT_FOUND", { message: "There is no such page." });
  return reply.code(404).headers(pageHeaders.text).type(html).send(missingPage());
}
