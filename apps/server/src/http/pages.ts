import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { describeSocket } from "@assay/contract/asyncapi";
import { describeApi } from "@assay/contract/openapi";
import { routes } from "@assay/contract/routes";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { listDocuments, readDocument } from "../pages/documents.ts";
import { escapeHtml, icon, page, stylesheet } from "../pages/layout.ts";

const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// The reference UI styles itself from script; it may load code and data from this service only.
const referencePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Start page, guides, API description and reference. Nothing here needs a database or another host. */
export function mountPages(app: FastifyInstance): void {
  const sendPage = (reply: FastifyReply, html: string, policy = pagePolicy) =>
    reply
      .headers({ "content-security-policy": policy, "cache-control": "no-cache" })
      .type("text/html; charset=utf-8")
      .send(html);
  const sendAsset = (reply: FastifyReply, type: string, content: string) =>
    reply.header("cache-control", "public, max-age=3600").type(type).send(content);

  app.get("/", async (_request, reply) => sendPage(reply, startPage()));
  app.get("/assets/pages.css", async (_request, reply) =>
    sendAsset(reply, "text/css; charset=utf-8", stylesheet),
  );
  app.get("/assets/icon.svg", async (_request, reply) => sendAsset(reply, "image/svg+xml", icon));

  app.get("/docs", async (_request, reply) => sendPage(reply, documentIndex()));
  app.get<{ Params: { name: string } }>("/docs/:name", async (request, reply) => {
    const document = readDocument(request.params.name);
    if (document === null) throw new ApiError("NOT_FOUND", { message: "There is no such page." });
    return sendPage(reply, page({ title: `${document.title} · Assay`, body: document.html }));
  });

  let description: string | null = null;
  app.get("/openapi", async (_request, reply) => {
    description ??= JSON.stringify(describeApi(routes));
    return reply
      .headers({ "cache-control": "no-cache", "access-control-allow-origin": "*" })
      .type("application/json; charset=utf-8")
      .send(description);
  });
  let socketDescription: string | null = null;
  app.get("/asyncapi", async (_request, reply) => {
    socketDescription ??= JSON.stringify(describeSocket());
    return reply
      .headers({ "cache-control": "no-cache", "access-control-allow-origin": "*" })
      .type("application/json; charset=utf-8")
      .send(socketDescription);
  });
  app.get("/reference", async (_request, reply) => sendPage(reply, referencePage, referencePolicy));
  app.get("/reference/start.js", async (_request, reply) =>
    sendAsset(reply, "text/javascript; charset=utf-8", referenceScript),
  );
  const bundle = createRequire(import.meta.url)
    .resolve("@scalar/api-reference")
    .replace(/dist.*$/, "dist/browser/standalone.js");
  app.get("/reference/ui.js", async (_request, reply) =>
    reply
      .header("cache-control", "public, max-age=3600")
      .type("text/javascript; charset=utf-8")
      .send(createReadStream(bundle)),
  );
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
