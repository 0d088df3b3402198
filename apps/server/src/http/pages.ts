import { describeSocket } from "@assay/contract/asyncapi";
import { describeApi } from "@assay/contract/openapi";
import { routes } from "@assay/contract/routes";
import { fontSlices } from "@assay/ui/font-slices";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import type { ApiDocument } from "../pages/api-document.ts";
import { documentNames, readDocument } from "../pages/documents.ts";
import { embedScript, embedTypes } from "../pages/embed.ts";
import {
  documentIndex,
  documentPage,
  missingPage,
  pageIndexForAgents,
  referencePage,
} from "../pages/frame.ts";
import { fontFolder, icon, readFont, script, stylesheet } from "../pages/layout.ts";
import { searchIndex } from "../pages/search-index.ts";
import { type StartFacts, startPage } from "../pages/start.ts";
import { FixedContent } from "./fixed-content.ts";
import { isOpenedByBrowser } from "./missing-page.ts";
import { pageHeaders } from "./page-headers.ts";

const html = "text/html; charset=utf-8";
const json = "application/json; charset=utf-8";
const text = "text/plain; charset=utf-8";
const markdown = "text/markdown; charset=utf-8";

/** Start page, guides, API description and reference. Nothing here needs a database or another host. */
export function mountPages(app: FastifyInstance, start: () => StartFacts): void {
  // Made when it is first asked for, and kept: nothing of it changes while the process runs.
  const contents = new Map<string, FixedContent>();
  const contentOf = (path: string, type: string, make: () => string | Buffer): FixedContent => {
    const content = contents.get(path) ?? new FixedContent(type, make());
    contents.set(path, content);
    return content;
  };
  const serve = (
    path: string,
    type: string,
    headers: Readonly<Record<string, string>>,
    make: () => string | Buffer,
  ) =>
    app.get(path, async (request, reply) =>
      contentOf(path, type, make).send(request, reply.headers(headers)),
    );
  const asAsset = { "cache-control": "public, max-age=3600" };
  const asDescription = { "cache-control": "no-cache", "access-control-allow-origin": "*" };
  const document = () => describeApi(routes) as unknown as ApiDocument;

  serve("/", html, pageHeaders.start, () => startPage(start()));
  serve("/assets/pages.css", "text/css; charset=utf-8", asAsset, stylesheet);
  serve("/assets/pages.js", "text/javascript; charset=utf-8", asAsset, script);
  for (const { file } of fontSlices)
    serve(`${fontFolder}${file}`, "font/woff2", asAsset, () => readFont(file));
  serve("/assets/icon.svg", "image/svg+xml", asAsset, () => icon);
  serve("/assets/search.json", json, asAsset, () => JSON.stringify(searchIndex(document())));
  serve("/openapi", json, asDescription, () => JSON.stringify(describeApi(routes)));
  serve("/asyncapi", json, asDescription, () => JSON.stringify(describeSocket()));
  serve("/llms.txt", text, asDescription, () => pageIndexForAgents(document()));

  // Pages of any origin load it, with a check of its hash (integrity) or without.
  const forPartners = {
    ...asAsset,
    "access-control-allow-origin": "*",
    "cross-origin-resource-policy": "cross-origin",
  };
  serve("/embed/v1.js", "text/javascript; charset=utf-8", forPartners, embedScript);
  serve("/embed/v1.d.ts", text, forPartners, embedTypes);

  serve("/docs", html, pageHeaders.text, documentIndex);
  app.get<{ Params: { "*": string } }>("/docs/*", async (request, reply) => {
    const asked = request.params["*"].replace(/\/$/, "");
    const name = asked.replace(/\.md$/, "");
    const found = documentNames().includes(name) ? readDocument(name) : null;
    if (found === null) return sendMissingGuide(request, reply);
    return asked.endsWith(".md")
      ? contentOf(`/docs/${asked}`, markdown, () => found.markdown).send(
          request,
          reply.headers(asDescription),
        )
      : contentOf(`/docs/${asked}`, html, () => documentPage(found)).send(
          request,
          reply.headers(pageHeaders.text),
        );
  });

  serve("/reference", html, pageHeaders.text, () => referencePage(document(), "") ?? "");
  app.get<{ Params: { name: string } }>("/reference/:name", async (request, reply) => {
    const { name } = request.params;
    const known = contents.has(`/reference/${name}`);
    const made = known ? "" : referencePage(document(), name);
    if (made === null || name === "") return sendMissingGuide(request, reply);
    return contentOf(`/reference/${name}`, html, () => made).send(request, reply.headers(pageHeaders.text));
  });
}

/** A browser that looks for a guide that is not there gets the others; everything else gets the envelope. */
async function sendMissingGuide(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (!isOpenedByBrowser(request)) throw new ApiError("NOT_FOUND", { message: "There is no such page." });
  return reply.code(404).headers(pageHeaders.text).type(html).send(missingPage());
}
