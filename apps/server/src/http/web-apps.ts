import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { FixedContent } from "./fixed-content.ts";
import { framedBy, pageHeaders } from "./page-headers.ts";

const appsFolder = new URL("../../../", import.meta.url);

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".bin": "application/octet-stream",
};

/**
 * A single-page app that was built into `apps/NAME/dist`. Its assets carry a hash in their names and may be kept for ever;
 * every other path below `/NAME` is the app itself. `head` is added to the head of its page. `frameAncestor` says by what follows `/NAME/`
 * which origin may show the page in a frame; otherwise none may.
 */
export function mountWebApp(
  app: FastifyInstance,
  name: "verify" | "dashboard",
  {
    alsoAt = [],
    head = null,
    frameAncestor = async () => null,
  }: {
    alsoAt?: readonly string[];
    head?: string | null;
    frameAncestor?: (rest: string) => Promise<string | null>;
  } = {},
): void {
  const dist = new URL(`${name}/dist/`, appsFolder);
  const cache = new Map<string, FixedContent>();
  const read = (file: string): FixedContent | null => {
    let content = cache.get(file);
    if (content === undefined && existsSync(new URL(file, dist))) {
      const type = types[extname(file)] ?? "application/octet-stream";
      const bytes = readFileSync(new URL(file, dist));
      const isPage = file === "index.html" && head !== null;
      content = new FixedContent(
        type,
        isPage ? bytes.toString().replace("</head>", `${head}</head>`) : bytes,
      );
      cache.set(file, content);
    }
    return content ?? null;
  };
  const sendApp = async (request: FastifyRequest, reply: FastifyReply) => {
    const html = read("index.html");
    if (html === null)
      throw new ApiError("SERVICE_UNAVAILABLE", {
        message: "The web app is not built.",
        hint: "Start the service with `npm start`, which builds it.",
      });
    // The person goes on to the partner's page: it learns the origin they came from, never the session's address.
    const headers = { ...pageHeaders[name], "referrer-policy": "no-referrer" };
    reply.headers(headers);
    const rest = (request.params as { "*"?: string })["*"] ?? "";
    // A browser that shows the page by itself says so, and nothing has to be looked up for it.
    const isFramed = request.headers["sec-fetch-dest"] !== "document";
    const ancestor = isFramed ? await frameAncestor(rest) : null;
    if (ancestor !== null) {
      reply.header("content-security-policy", framedBy(headers["content-security-policy"], ancestor));
      // It knows no origins, and a browser that heeds both refuses.
      reply.removeHeader("x-frame-options");
    }
    return html.send(request, reply);
  };

  app.get<{ Params: { file: string } }>(`/${name}/assets/:file`, async (request, reply) => {
    const { file } = request.params;
    const folder = new URL("assets/", dist);
    // Only names that are in the folder are served, so no path can lead out of it.
    const content = existsSync(folder) && readdirSync(folder).includes(file) ? read(`assets/${file}`) : null;
    if (content === null) throw new ApiError("NOT_FOUND", { message: "There is no such file." });
    // A worker lives by the policy of its own script, not by that of the page that started it.
    if (extname(file) === ".js")
      reply.header("content-security-policy", pageHeaders[name]["content-security-policy"]);
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return content.send(request, reply);
  });
  for (const path of [`/${name}`, `/${name}/*`, ...alsoAt])
    app.get(path, async (request, reply) => sendApp(request, reply));
}
