import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type PageLanguage, pageLanguages } from "@assay/contract/facts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { hasCode } from "../lib/error-code.ts";
import { appFilePath, type InstallPlaces, installPage } from "../pages/install.ts";
import { acceptedLanguage } from "./accept.ts";
import { FixedContent } from "./fixed-content.ts";
import { pageHeaders } from "./page-headers.ts";

/**
 * Our app has 80 kB. With half of this limit, an app with its own browser engine does not fit. With twice, a
 * wrong file fills the memory.
 */
const maxBytes = 128 * 1024 * 1024;

const html = "text/html; charset=utf-8";

type Loaded = { bytes: Buffer; etag: string };

/**
 * The page at `/app` that explains how to install the app, if there is one. It is for people, so it is always
 * HTML.
 */
export function mountInstallPage(app: FastifyInstance, places: InstallPlaces): void {
  const contents = new Map<PageLanguage, FixedContent>();
  app.get("/app", async (request, reply) => {
    if (places.android === null && places.iosUrl === null) throw noApp();
    const language = acceptedLanguage(request.headers["accept-language"], pageLanguages) ?? "en";
    const content = contents.get(language) ?? new FixedContent(html, installPage(language, places));
    contents.set(language, content);
    reply.headers({ ...pageHeaders.text, vary: "accept-language" });
    return content.send(request, reply);
  });
}

/**
 * The operator's Android app, for phones without an app store. Each request checks the file, so that a new
 * version needs no restart, and reads it only if it has changed.
 */
export function mountAppFile(app: FastifyInstance, file: string): void {
  let loaded: Promise<Loaded> | null = null;
  let of = "";
  const load = async (): Promise<Loaded> => {
    const { size, mtimeMs, ino } = await stat(file);
    const found = `${size} ${mtimeMs} ${ino}`;
    if (size > maxBytes) throw new ApiError("SERVICE_UNAVAILABLE", { message: "The app is too large." });
    if (loaded === null || of !== found) {
      of = found;
      loaded = readFile(file).then((bytes) => ({ bytes, etag: etagOf(bytes) }));
      loaded.catch(() => {
        loaded = null;
      });
    }
    return await loaded;
  };
  app.get(appFilePath, async (request, reply) => {
    if (file === "") throw noApp();
    let found: Loaded;
    try {
      found = await load();
    } catch (error) {
      throw hasCode(error, "ENOENT") ? noApp() : error;
    }
    return sendApp(request, reply, found);
  });
}

function noApp(): ApiError {
  return new ApiError("NOT_FOUND", { message: "There is no such page." });
}

async function sendApp(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytes, etag }: Loaded,
): Promise<FastifyReply> {
  reply.headers({
    etag,
    // Clients revalidate each time, because the service does not know when the operator replaces the file.
    "cache-control": "no-cache",
    "content-disposition": 'attachment; filename="app.apk"',
  });
  if (request.headers["if-none-match"] === etag) return reply.code(304).send();
  return reply.type("application/vnd.android.package-archive").send(bytes);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
}
