import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { directionOf } from "@assay/contract/facts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { FixedContent } from "./fixed-content.ts";
import { isOpenedByBrowser, sendNothingHere } from "./missing-page.ts";
import { framedBy, pageHeaders, sealedWorkerPolicy } from "./page-headers.ts";

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

/** What a page is filled with: data for its program, and the language it is likely to be read in. */
export type Filling = {
  language: string;
  data: unknown;
  /** The program goes elsewhere at once, so the scripts of this page are not asked for. */
  leadsElsewhere?: boolean;
};

type Options = {
  alsoAt?: readonly string[];
  head?: string | null;
  frameAncestor?: (rest: string) => Promise<string | null>;
  /** Headers of pages that have others than the rest of the app, by what follows `/NAME/`. */
  ownHeaders?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Whether there can be a page here, by what follows `/NAME/`. A browser that opens another address is told so. */
  isPage?: (rest: string) => boolean;
  /** What the page at this address comes with; null for nothing. Also where it fails the page is sent, and asks by itself. */
  fill?: (request: FastifyRequest, reply: FastifyReply) => Promise<Filling | null>;
  /** Only pages that the build has a list of scripts for (`.vite/pages.json`) are filled, and name these scripts in their head. */
  fillsListedPages?: boolean;
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
    ownHeaders = {},
    isPage = () => true,
    fill,
    fillsListedPages = false,
  }: Options = {},
): void {
  const dist = new URL(`${name}/dist/`, appsFolder);
  const cache = new Map<string, FixedContent>();
  const read = (file: string): FixedContent | null => {
    let content = cache.get(file);
    if (content === undefined && existsSync(new URL(file, dist))) {
      const type = types[extname(file)] ?? "application/octet-stream";
      const isPage = file === "index.html";
      content = new FixedContent(
        type,
        isPage ? pageOf(dist, head) : readFileSync(new URL(file, dist)),
        isPage ? null : compressedBeforehand(new URL(file, dist)),
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
    const rest = (request.params as { "*"?: string })["*"] ?? "";
    if (!isPage(rest) && isOpenedByBrowser(request)) return sendNothingHere(request, reply);
    // The person goes on to the partner's page: it learns the origin they came from, never the session's address.
    const own = Object.hasOwn(ownHeaders, rest) ? ownHeaders[rest] : undefined;
    const headers = { ...pageHeaders[name], ...own, "referrer-policy": "no-referrer" };
    reply.headers(headers);
    // A browser that shows the page by itself says so, and nothing has to be looked up for it.
    const isFramed = own === undefined && request.headers["sec-fetch-dest"] !== "document";
    const ancestor = isFramed ? await frameAncestor(rest) : null;
    if (ancestor !== null) {
      reply.header("content-security-policy", framedBy(headers["content-security-policy"], ancestor));
      // It knows no origins, and a browser that heeds both refuses.
      reply.removeHeader("x-frame-options");
    }
    const scripts = fillsListedPages ? scriptsOfPage(dist, request.url) : [];
    const filling =
      fill === undefined || scripts === null ? null : await fill(request, reply).catch(() => null);
    if (filling === null) return html.send(request, reply);
    return reply
      .type("text/html; charset=utf-8")
      .send(filled(pageOf(dist, head), dist, filling, scripts ?? []));
  };

  app.get<{ Params: { file: string } }>(`/${name}/assets/:file`, async (request, reply) => {
    const { file } = request.params;
    const folder = new URL("assets/", dist);
    // Only names that are in the folder are served, so no path can lead out of it.
    const content = existsSync(folder) && readdirSync(folder).includes(file) ? read(`assets/${file}`) : null;
    if (content === null) throw new ApiError("NOT_FOUND", { message: "There is no such file." });
    // A worker lives by the policy of its own script, not by that of the page that started it.
    if (/worker.*\.js$/.test(file))
      reply.header(
        "content-security-policy",
        file.startsWith("mrz-worker") ? sealedWorkerPolicy : pageHeaders[name]["content-security-policy"],
      );
    reply.header("cache-control", "public, max-age=31536000, immutable");
    return content.send(request, reply);
  });
  for (const path of [`/${name}`, `/${name}/*`, ...alsoAt])
    app.get(path, async (request, reply) => sendApp(request, reply));
}

/** The page as it was built, with what is the same for everybody: what it will need first is asked for at once. */
function pageOf(dist: URL, head: string | null): string {
  const font = builtFile(dist, "fonts/inter-latin.woff2");
  const preload =
    font === null ? "" : `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin />`;
  const html = readFileSync(new URL("index.html", dist), "utf8");
  return html.replace("</head>", `${preload}${head ?? ""}</head>`);
}

function filled(
  html: string,
  dist: URL,
  { language, data, leadsElsewhere = false }: Filling,
  scripts: readonly string[],
): string {
  const words = builtFile(dist, `${language}.json`);
  const preload = [...(words === null ? [] : [words]), ...(leadsElsewhere ? [] : scripts)]
    .map((address) => `<link rel="modulepreload" href="${address}" crossorigin />`)
    .join("");
  // Not a script but data, which the policy of the page need not allow. `<` would be the one way out of it.
  const given = JSON.stringify(data).replaceAll("<", "\\u003c");
  return html
    .replace('<html lang="en">', () => `<html lang="${language}" dir="${directionOf(language)}">`)
    .replace("</head>", () => `${preload}</head>`)
    .replace("</body>", () => `<script type="application/json" id="given">${given}</script></body>`);
}

const manifests = new Map<string, Readonly<Record<string, { file: string }>>>();
const pageLists = new Map<string, Readonly<Record<string, readonly string[]>>>();

function readOnce<T extends object>(kept: Map<string, T>, file: URL): T {
  let read = kept.get(file.href);
  if (read === undefined) {
    read = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as T;
    kept.set(file.href, read);
  }
  return read;
}

function addressOf(dist: URL, file: string): string {
  return `/${dist.pathname.split("/").at(-3)}/${file}`;
}

/** The scripts of the page at this path beside those of every page; null where the build has none by this path. */
function scriptsOfPage(dist: URL, url: string): readonly string[] | null {
  const pages = readOnce(pageLists, new URL(".vite/pages.json", dist));
  const path = url.replace(/[?#].*$/, "").replace(/\/$/, "");
  const parts = path.split("/");
  const isAt = (page: string) => {
    const places = page.split("/");
    return (
      places.length === parts.length &&
      places.every((place, at) => place === parts[at] || place.startsWith("$"))
    );
  };
  const files = pages[path] ?? pages[Object.keys(pages).find(isAt) ?? ""];
  return files === undefined ? null : files.map((file) => addressOf(dist, file));
}

/** The address of what a source file became, found by the end of its path; null where the build says nothing of it. */
function builtFile(dist: URL, source: string): string | null {
  const manifest = readOnce(manifests, new URL(".vite/manifest.json", dist));
  const name = Object.keys(manifest).find((path) => path.endsWith(`/${source}`));
  const built = name === undefined ? undefined : manifest[name]?.file;
  return built === undefined ? null : addressOf(dist, built);
}

/** Made by the build, with more effort than there is time for when somebody waits. */
function compressedBeforehand(file: URL): Buffer | null {
  const beside = new URL(`${file.href}.br`);
  return existsSync(beside) ? readFileSync(beside) : null;
}
