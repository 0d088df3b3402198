import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describeSocket } from "@assay/contract/asyncapi";
import { describeApi } from "@assay/contract/openapi";
import { routes } from "@assay/contract/routes";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { listDocuments, readDocument } from "../pages/documents.ts";
import { escapeHtml, icon, page, stylesheet } from "../pages/layout.ts";
import { FixedContent } from "./fixed-content.ts";
import { pageHeaders } from "./page-headers.ts";

const html = "text/html; charset=utf-8";
const script = "text/javascript; charset=utf-8";
const json = "application/json; charset=utf-8";

/** Start page, guides, API description and reference. Nothing here needs a database or another host. */
export function mountPages(app: FastifyInstance): void {
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

  serve("/", html, pageHeaders.text, startPage);
  serve("/assets/pages.css", "text/css; charset=utf-8", asAsset, () => stylesheet);
  serve("/assets/icon.svg", "image/svg+xml", asAsset, () => icon);

  serve("/docs", html, pageHeaders.text, documentIndex);
  app.get<{ Params: { name: string } }>("/docs/:name", async (request, reply) => {
    const content = contentOf(`/docs/${request.params.name}`, html, () => {
      const document = readDocument(request.params.name);
      if (document === null) throw new ApiError("NOT_FOUND", { message: "There is no such page." });
      return page({ title: `${document.title} · Assay`, body: document.html });
    });
    return content.send(request, reply.headers(pageHeaders.text));
  });

  serve("/openapi", json, asDescription, () => JSON.stringify(describeApi(routes)));
  serve("/asyncapi", json, asDescription, () => JSON.stringify(describeSocket()));
  serve("/reference", html, pageHeaders.reference, () => referencePage);
  serve("/reference/start.js", script, asAsset, () => referenceScript);
  const bundle = createRequire(import.meta.url)
    .resolve("@scalar/api-reference")
    .replace(/dist.*$/, "dist/browser/standalone.js");
  serve("/reference/ui.js", script, asAsset, () => readFileSync(bundle));
}

function startPage(): string {
  const cards = [
    [
      "/dashboard",
      "Dashboard",
      "Sign in to manage keys, webhooks, sessions and members of your organization.",
    ],
    [
      "/docs/first-verification",
      "First verification",
      "From a fresh installation to a decrypted result, step by step.",
    ],
    [
      "/reference",
      "API reference",
      "Every route with its fields, errors and examples. Try them from the page.",
    ],
    ["/docs", "Guides", "For partner engineers, operators and organization admins."],
    [
      "/openapi",
      "OpenAPI document",
      "Generate a client in your language from the machine-readable description.",
    ],
  ];
  return page({
    title: "Assay",
    wide: true,
    body: `<h1>Identity verification that does not keep identities</h1>
<p class="lead">Assay reads the chip of a passport, matches it to a living person, and hands the result to the one who asked, encrypted to their own key. Who the person is never stays here.</p>
<ul class="cards">${cards.map(([href, title, text]) => `<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>`).join("")}</ul>`,
  });
}

function documentIndex(): string {
  const entries = listDocuments().map(
    ({ name, title, summary }) =>
      `<li><a href="/docs/${name}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(summary)}</span></a></li>`,
  );
  return page({
    title: "Guides · Assay",
    wide: true,
    body: `<h1>Guides</h1><ul class="cards">${entries.join("")}</ul>`,
  });
}

const referencePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Assay</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
</head>
<body>
<noscript>The reference needs JavaScript. The same description is at <a href="/openapi">/openapi</a>.</noscript>
<div id="reference"></div>
<script src="/reference/ui.js"></script>
<script src="/reference/start.js"></script>
</body>
</html>
`;

const referenceScript = `Scalar.createApiReference("#reference", {
  url: "/openapi",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  defaultOpenAllTags: false,
  metaData: { title: "API reference · Assay" },
  authentication: { preferredSecurityScheme: "apiKey" },
});
`;
