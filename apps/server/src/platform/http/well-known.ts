import type { FastifyInstance } from "fastify";
import { type Clock, dayMs, later } from "../kernel/clock.ts";
import { FixedContent } from "./fixed-content.ts";

/**
 * Documents that phones and app stores fetch to verify the owner of this origin. They expect plain
 * `application/json` at this path, without a redirect. Cached for an hour, so that a changed key takes effect
 * on the same day.
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

/**
 * Where to report vulnerabilities (RFC 9116). `Expires` is required; the text is created for each request, so
 * it never expires while the service runs.
 */
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

/** Search engines may index guides, but not verify pages: their addresses grant access. */
const robots =
  "User-agent: *\nDisallow: /verify\nDisallow: /dashboard\nDisallow: /invitations\nDisallow: /v1/\n";

/** What browsers and search engines request by themselves. */
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
