import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { directionOf } from "@assay/contract/facts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { acceptedLanguage } from "./accept.ts";
import { FixedContent } from "./fixed-content.ts";
import { isOpenedByBrowser, sendNothingHere } from "./missing-page.ts";
import { framedBy, pageHeaders, sealedWorkerPolicy } from "./page-headers.ts";

const appsFolder = new URL("../../../../", import.meta.url);

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

/** What is embedded in a page: data for its program, and its probable language. */
export type Filling = {
  language: string;
  data: unknown;
  /** The page navigates away at once, so its scripts are not preloaded. */
  leadsElsewhere?: boolean;
};

type Options = {
  /** The folder that contains a folder for each app. */
  apps?: URL;
  alsoAt?: readonly string[];
  head?: string | null;
  frameAncestor?: (rest: string) => Promise<string | null>;
  /** Headers of pages that differ from the rest of the app, by the path after `/NAME/`. */
  ownHeaders?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /**
   * Whether the path after `/NAME/` can be a page. A browser that opens another path gets the page for
   * unknown addresses.
   */
  isPage?: (rest: string) => boolean;
  /**
   * The data for the page at this address; null for none. If it fails, the page is sent without data and
   * requests it.
   */
  fill?: (request: FastifyRequest, reply: FastifyReply) => Promise<Filling | null>;
  /**
   * Embeds data only in pages with a list of scripts from the build (`.vite/pages.json`), and preloads these
   * scripts.
   */
  fillsListedPages?: boolean;
  /** Languages of which the browser chooses one for a page that is not filled. */
  languages?: readonly string[] | null;
};

/**
 * A single-page app from `apps/NAME/dist`. Its assets have a hash in their names and may be cached forever;
 * every other path below `/NAME` is the app itself. `head` is added to the head of its page. `frameAncestor`
 * returns the origin that may frame the page, by the path after `/NAME/`.
 */
export function mountWebApp(
  app: FastifyInstance,
  name: "verify" | "dashboard",
  {
    apps = appsFolder,
    alsoAt = [],
    head = null,
    frameAncestor = async () => null,
    ownHeaders = {},
    isPage = () => true,
    fill,
    fillsListedPages = false,
    languages = null,
  }: Options = {},
): void {
  let opened: BuiltApp | null = null;
  const built = (): BuiltApp => {
    opened ??= BuiltApp.open(name, apps, head);
    if (opened !== null) return opened;
    throw new ApiError("SERVICE_UNAVAILABLE", {
      message: "The web app is not built.",
      hint: "Start the service with `npm start`, which builds it.",
    });
  };
  const sendApp = async (request: FastifyRequest, reply: FastifyReply) => {
    const web = built();
    const rest = (request.params as { "*"?: string })["*"] ?? "";
    if (!isPage(rest) && isOpenedByBrowser(request)) return sendNothingHere(request, reply);
    // The person continues to the partner's page, which must not learn the address of the session.
    const own = Object.hasOwn(ownHeaders, rest) ? ownHeaders[rest] : undefined;
    const headers = { ...pageHeaders[name], ...own, "referrer-policy": "no-referrer" };
    reply.headers(headers);
    // A browser says so if it shows the page in a window; then no lookup is needed.
    const isFramed = own === undefined && request.headers["sec-fetch-dest"] !== "document";
    const ancestor = isFramed ? await frameAncestor(rest) : null;
    if (ancestor !== null) {
      reply.header("content-security-policy", framedBy(headers["content-security-policy"], ancestor));
      // X-Frame-Options cannot name an origin, and browsers that honour both would refuse.
      reply.removeHeader("x-frame-options");
    }
    const scripts = fillsListedPages ? web.scriptsOf(request.url) : [];
    const filling =
      fill === undefined || scripts === null ? null : await fill(request, reply).catch(() => null);
    if (filling === null) {
      if (languages === null) return web.page.send(request, reply);
      reply.header("vary", "accept-language");
      const language = acceptedLanguage(request.headers["accept-language"], languages) ?? "en";
      return web.pageIn(language).send(request, reply);
    }
    return reply.type("text/html; charset=utf-8").send(web.filled(filling, scripts ?? []));
  };

  app.get<{ Params: { file: string } }>(`/${name}/assets/:file`, async (request, reply) => {
    const { file } = request.params;
    const content = built().asset(file);
    if (content === null) throw new ApiError("NOT_FOUND", { message: "There is no such file." });
    // A worker uses the policy of its script, not that of its page.
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

type Manifest = Readonly<Record<string, { file: string }>>;
type PageLists = Readonly<Record<string, readonly string[]>>;

/**
 * The build in `NAME/dist`. Its lists are read once and each file on first request, so a new build needs a
 * restart.
 */
class BuiltApp {
  readonly page: FixedContent;
  readonly #html: string;
  /** Those that are not filled, by their language. */
  readonly #pages = new Map<string, FixedContent>();
  readonly #name: string;
  readonly #assetFolder: URL;
  /** Null until it is read. Only files of the folder are served, so no path can leave it. */
  readonly #assets: Map<string, FixedContent | null>;
  readonly #manifest: Manifest;
  readonly #pageLists: PageLists;

  private constructor(name: string, dist: URL, head: string) {
    this.#name = name;
    this.#manifest = readJson(new URL(".vite/manifest.json", dist));
    this.#pageLists = readJson(new URL(".vite/pages.json", dist));
    this.#assetFolder = new URL("assets/", dist);
    const names = existsSync(this.#assetFolder) ? readdirSync(this.#assetFolder) : [];
    this.#assets = new Map(names.map((file) => [file, null]));
    // Preloads what the page needs first.
    const font = this.#addressOf("fonts/inter-latin.woff2");
    const preload =
      font === null ? "" : `<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin />`;
    const html = readFileSync(new URL("index.html", dist), "utf8");
    this.#html = html.replace("</head>", `${preload}${head}</head>`);
    this.page = new FixedContent(types[".html"] ?? "", this.#html);
  }

  /** Null if there is no build. */
  static open(name: string, apps: URL, head: string | null): BuiltApp | null {
    const dist = new URL(`${name}/dist/`, apps);
    return existsSync(new URL("index.html", dist)) ? new BuiltApp(name, dist, head ?? "") : null;
  }

  asset(file: string): FixedContent | null {
    const known = this.#assets.get(file) ?? null;
    const path = new URL(file, this.#assetFolder);
    if (known !== null || !this.#assets.has(file) || !existsSync(path)) return known;
    // Compressed by the build, with more effort than a request allows.
    const compressed = new URL(`${path.href}.br`);
    const content = new FixedContent(
      types[extname(file)] ?? "application/octet-stream",
      readFileSync(path),
      existsSync(compressed) ? readFileSync(compressed) : null,
    );
    this.#assets.set(file, content);
    return content;
  }

  /** The scripts of the page at this path, besides the common ones; null if the build lists none. */
  scriptsOf(url: string): readonly string[] | null {
    const path = url.replace(/[?#].*$/, "").replace(/\/$/, "");
    const parts = path.split("/");
    const isAt = (page: string) => {
      const named = page.split("/");
      return (
        named.length === parts.length && named.every((part, at) => part === parts[at] || part.startsWith("$"))
      );
    };
    const files = this.#pageLists[path] ?? this.#pageLists[Object.keys(this.#pageLists).find(isAt) ?? ""];
    return files === undefined ? null : files.map((file) => `/${this.#name}/${file}`);
  }

  pageIn(language: string): FixedContent {
    const page =
      this.#pages.get(language) ?? new FixedContent(types[".html"] ?? "", this.#inLanguage(language, []));
    this.#pages.set(language, page);
    return page;
  }

  filled({ language, data, leadsElsewhere = false }: Filling, scripts: readonly string[]): string {
    // Data instead of a script, so the page's policy need not allow it. Escaping `<` keeps it from ending the
    // element.
    const given = JSON.stringify(data).replaceAll("<", "\\u003c");
    return this.#inLanguage(language, leadsElsewhere ? [] : scripts).replace(
      "</body>",
      () => `<script type="application/json" id="given">${given}</script></body>`,
    );
  }

  #inLanguage(language: string, scripts: readonly string[]): string {
    const file = `texts/${language}.json`;
    const words = this.#addressOf(file) ?? this.#addressOf(`${file}?first`);
    const preload = [...(words === null ? [] : [words]), ...scripts]
      .map((address) => `<link rel="modulepreload" href="${address}" crossorigin />`)
      .join("");
    return this.#html
      .replace('<html lang="en">', () => `<html lang="${language}" dir="${directionOf(language)}">`)
      .replace("</head>", () => `${preload}</head>`);
  }

  /** The address of a built source file, found by the end of its path; null if the build does not have it. */
  #addressOf(source: string): string | null {
    const name = Object.keys(this.#manifest).find((path) => `/${path}`.endsWith(`/${source}`));
    const built = name === undefined ? undefined : this.#manifest[name]?.file;
    return built === undefined ? null : `/${this.#name}/${built}`;
  }
}

function readJson<T extends object>(file: URL): T {
  return (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as T;
}
