import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after } from "node:test";

/** Too small: probes take processor time. Too large: a process that drains for a second is rarely probed. */
const probeEveryMs = 200;

/**
 * A simple load balancer: each request goes to the next ready process over a kept connection, and is never
 * retried. So the client sees every fault behind it.
 */
export class Balancer {
  readonly url: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #ready = new Map<string, boolean>();
  #turn = 0;
  /** Why requests got no answer. */
  readonly failures: string[] = [];
  close: () => void = () => {};

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  /** For a file of tests, and closed after it. */
  static async start(): Promise<Balancer> {
    const balancer = await Balancer.open();
    after(() => balancer.close());
    return balancer;
  }

  static async open(): Promise<Balancer> {
    // Longer than clients keep a connection, so that none is closed while a request is on its way.
    const server = createServer({ keepAliveTimeout: 120_000 });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const balancer = new Balancer((server.address() as AddressInfo).port);
    server.on("request", (incoming, outgoing) => {
      const passed = request(
        `${balancer.#next()}${incoming.url}`,
        { method: incoming.method ?? "GET", headers: incoming.headers, agent: balancer.#agent },
        (answer) => {
          const { connection: _, "keep-alive": __, ...headers } = answer.headers;
          outgoing.writeHead(answer.statusCode ?? 502, headers);
          answer.pipe(outgoing);
        },
      );
      passed.on("error", (error) => {
        balancer.failures.push(`${incoming.method} ${incoming.url}: ${error.message}`);
        outgoing.destroy();
      });
      incoming.pipe(passed);
    });
    server.on("upgrade", (incoming: IncomingMessage, near, head) => {
      const { hostname, port } = new URL(balancer.#next());
      const far = connect(Number(port), hostname, () => {
        const lines = incoming.rawHeaders.flatMap((text, at, all) =>
          at % 2 === 0 ? [`${text}: ${all[at + 1]}`] : [],
        );
        far.write(`${incoming.method} ${incoming.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
        far.write(head);
        far.pipe(near).pipe(far);
      });
      for (const end of [near, far]) end.on("error", () => {});
      far.on("close", () => near.destroy());
      near.on("close", () => far.destroy());
    });
    const probing = setInterval(() => void balancer.probe(), probeEveryMs);
    balancer.close = () => {
      clearInterval(probing);
      balancer.#agent.destroy();
      server.closeAllConnections();
      server.close();
    };
    return balancer;
  }

  add(url: string): void {
    this.#ready.set(url, true);
  }

  remove(url: string): void {
    this.#ready.delete(url);
  }

  async probe(): Promise<void> {
    await Promise.all(
      [...this.#ready.keys()].map(async (url) => {
        const isReady = await fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
        if (this.#ready.has(url)) this.#ready.set(url, isReady);
      }),
    );
  }

  /** If none is ready, all are tried: on a busy machine both may have answered late. */
  #next(): string {
    const all = [...this.#ready.keys()];
    const ready = all.filter((url) => this.#ready.get(url));
    const some = ready.length > 0 ? ready : all;
    this.#turn += 1;
    return some[this.#turn % some.length] ?? "http://127.0.0.1:1";
  }
}
