import { createHash, timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";

/** They are asked for every few seconds and must answer however much there is to do. */
export const probePaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** All series as one text in the Prometheus format. */
type RenderMetrics = () => Promise<string>;

export type Readiness = {
  /** Resolves with null, or with the reason why requests should go elsewhere. */
  problem: () => Promise<string | null>;
  isOverloaded: () => boolean;
};

/**
 * A process that refuses some requests for want of room stays ready: taken out, its load would fall on the others, one after the other.
 */
export function mountHealth(app: FastifyInstance, { problem, isOverloaded }: Readiness): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const reason = await problem();
    return reason === null
      ? { status: "ready", overloaded: isOverloaded() }
      : reply.code(503).send({ status: "not ready", reason });
  });
}

export function mountMetrics(app: FastifyInstance, render: RenderMetrics, token: () => string): void {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  app.get("/metrics", async ({ headers: { authorization = "" } }, reply) => {
    // Takes as long for a token that is nearly right as for any other.
    if (!timingSafeEqual(digest(authorization), digest(`Bearer ${token()}`)))
      return reply.code(401).send("unauthorized\n");
    return reply.type("text/plain; version=0.0.4").send(await render());
  });
}

/** `/metrics` on a port of its own, for a network that only the operator reaches. */
export function listenForMetrics(render: RenderMetrics, host: string, port: number): Promise<Server> {
  const server = createHttpServer(({ method, url }, response) => {
    const reply = (status: number, text: string) => {
      response.writeHead(status, { "content-type": "text/plain; version=0.0.4" });
      response.end(text);
    };
    if (method !== "GET" || url !== "/metrics") return reply(404, "not found\n");
    render().then(
      (text) => reply(200, text),
      () => reply(500, "the metrics could not be read\n"),
    );
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
