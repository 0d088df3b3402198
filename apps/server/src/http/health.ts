import { createHash, timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type Server } from "node:http";
import type { FastifyInstance } from "fastify";

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

/** Takes as long for a token that is nearly right as for any other. */
function tokenCheck(token: string): (authorization: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(`Bearer ${token}`);
  return (authorization = "") => timingSafeEqual(digest(authorization), expected);
}

export function mountMetrics(app: FastifyInstance, render: RenderMetrics, token: string): void {
  const isAllowed = tokenCheck(token);
  app.get("/metrics", async (request, reply) => {
    if (!isAllowed(request.headers.authorization)) return reply.code(401).send("unauthorized\n");
    return reply.type("text/plain; version=0.0.4").send(await render());
  });
}

/** `/metrics` on a port of its own, for a network that only the operator reaches. */
export function listenForMetrics(render: RenderMetrics, host: string, port: number): Promise<Server> {
  return listen(host, port, async ({ url }) =>
    url === "/metrics" ? { status: 200, text: await render() } : null,
  );
}

/** Answers GET; null is not found. */
function listen(
  host: string,
  port: number,
  answer: (request: IncomingMessage) => Promise<{ status: number; text: string } | null>,
): Promise<Server> {
  const server = createHttpServer((request, response) => {
    const reply = (status: number, text: string) => {
      const type = text.startsWith("{") ? "application/json" : "text/plain; version=0.0.4";
      response.writeHead(status, { "content-type": type });
      response.end(text);
    };
    const answered = request.method === "GET" ? answer(request) : Promise.resolve(null);
    answered.then(
      (found) => (found === null ? reply(404, "not found\n") : reply(found.status, found.text)),
      () => reply(500, "the metrics could not be read\n"),
    );
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
