import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

export type RoundRobin = {
  url: string;
  /** Where requests go from now on, one after the other. */
  targets: string[];
  /** How many requests each target has had. */
  readonly counts: readonly number[];
  close(): Promise<void>;
};

/** The load balancers of this process, by address. */
const balancers = new Map<string, () => URL>();

/** The target of the next connection, past the load balancer, which refuses what is not HTTP. */
export function machineBehind(url: string): URL {
  return balancers.get(new URL(url).origin)?.() ?? new URL(url);
}

/**
 * A simple load balancer: each request and each socket goes to the next of several machines, whatever its
 * connection was used for before.
 */
export async function startRoundRobin(): Promise<RoundRobin> {
  const targets: string[] = [];
  const counts: number[] = [];
  const sockets = new Set<Socket>();
  let turn = 0;
  const next = () => {
    const index = turn++ % targets.length;
    counts[index] = (counts[index] ?? 0) + 1;
    return new URL(targets[index] ?? "");
  };
  const server = createServer({ requireHostHeader: false, keepAliveTimeout: 65_000 }, (incoming, answer) =>
    forward(next(), incoming, answer),
  );
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (incoming, socket, head) => forwardUpgrade(next(), incoming, socket, head));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  balancers.set(url, next);
  return {
    url,
    targets,
    counts,
    close: () =>
      new Promise((resolve) => {
        balancers.delete(url);
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function ask(target: URL, incoming: IncomingMessage) {
  return request({
    host: target.hostname,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: incoming.rawHeaders,
    setHost: false,
    agent: false,
  });
}

function forward(target: URL, incoming: IncomingMessage, answer: ServerResponse): void {
  const outgoing = ask(target, incoming);
  outgoing.on("response", (response) => {
    answer.sendDate = false;
    answer.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders);
    // The head is sent before there is a body: event streams are silent at first.
    answer.flushHeaders();
    response.pipe(answer);
    response.on("error", () => answer.destroy());
    response.on("aborted", () => answer.destroy());
  });
  outgoing.on("error", () => answer.destroy());
  answer.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
}

function forwardUpgrade(target: URL, incoming: IncomingMessage, near: Duplex, head: Buffer): void {
  const outgoing = ask(target, incoming);
  const headOf = ({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage) => {
    const lines = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []));
    return `HTTP/${httpVersion} ${statusCode} ${statusMessage}\r\n${lines.join("\r\n")}\r\n\r\n`;
  };
  outgoing.on("upgrade", (response, far, farHead) => {
    near.write(headOf(response));
    near.write(farHead);
    far.write(head);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  // Refused: an answer like any other.
  outgoing.on("response", (response) => {
    near.write(headOf(response));
    response.pipe(near);
  });
  outgoing.on("error", () => near.destroy());
  near.on("error", () => outgoing.destroy());
  outgoing.end();
}
