import { createHash, timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer, type Server } from "node:http";
import type { FastifyInstance } from "fastify";

/** Probes come every few seconds and must be answered under any load. */
export const probePaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** All metrics as one text in the Prometheus format. */
type RenderMetrics = () => Promise<string>;

export type Readiness = {
  /** Resolves with null, or with the reason why the process is not ready. */
  problem: () => Promise<string | null>;
  isOverloaded: () => boolean;
};

/**
 * An overloaded process stays ready: if it were taken out, its load would overload the others, one after the
 * other.
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
    // Constant time, whatever part of the token matches.
    if (!timingSafeEqual(digest(authorization), digest(`Bearer ${token()}`)))
      return reply.code(401).send("unauthorized\n");
    return reply.type("text/plain; version=0.0.4").send(await render());
  });
}

/** `/metrics` on a separate port, for a network that only the operator reaches. */
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
