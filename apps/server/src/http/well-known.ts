import type { FastifyInstance } from "fastify";
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
