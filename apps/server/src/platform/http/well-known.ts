import type { FastifyInstance } from "fastify";
import { type Clock, dayMs, later } from "../kernel/clock.ts";
import { FixedContent } from "./fixed-content.ts";

/**
 * Documents that phones and their shops fetch to learn whose this origin is. They ask for plain `application/json`, at this very path and
 * without a redirect. Kept for an hour: an operator who changes a key wants it known on the same day.
 */
export function mountWellKnown(app: FastifyInstance, documents: ReadonlyMap<string, unknown>): void {
  for (const [path, document] of documents) {
    const content = new FixedContent("application/json", JSON.stringify(document));
    app.get(path, async (request, reply) =>
      content.send(request, reply.header("cache-control", "public, max-age=3600")),
    );
  }
}

const securityTextLifetimeMs = 180 * dayMs;

/** Where to report weaknesses (RFC 9116). `Expires` is required; the text is made for each request, so it never expires while the service runs. */
export function mountSecurityText(
  app: FastifyInstance,
  contact: string,
  { clock, publicUrl }: { clock: Clock; publicUrl: () => string },
): void {
  const [word = ""] = contact.trim().split(/\s+/);
  if (word === "") return;
  const uri = /^[a-z]+:/i.test(word) ? word : `mailto:${word}`;
  app.get("/.well-known/security.txt", async (_request, reply) =>
    reply
      .header("content-type", "text/plain; charset=utf-8")
      .send(
        `Contact: ${uri}\nExpires: ${later(clock.now(), securityTextLifetimeMs).toISOString()}\nCanonical: ${publicUrl()}/.well-known/security.txt\n`,
      ),
  );
}

/** Guides may be found. Pages of persons may not: their addresses open them. */
const robots =
  "User-agent: *\nDisallow: /verify\nDisallow: /dashboard\nDisallow: /invitations\nDisallow: /v1/\n";

/** What browsers and search engines ask for by themselves. */
export function mountRobots(app: FastifyInstance): void {
  const content = new FixedContent("text/plain; charset=utf-8", robots);
  const kept = "public, max-age=86400";
  app.get("/robots.txt", async (request, reply) =>
    content.send(request, reply.header("cache-control", kept)),
  );
  app.get("/favicon.ico", async (_request, reply) =>
    reply.header("cache-control", kept).redirect("/assets/icon.svg", 302),
  );
}
