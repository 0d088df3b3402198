import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Engine } from "./engine.ts";

const patienceMs = 60_000;

/** Messages of the page wait here for `exchange`, which replaces the phone's code. */
const queue = `
  const waiting = [];
  let last = 0;
  const open = new Map();
  const post = (message) => new Promise((resolve) => {
    open.set(++last, resolve);
    waiting.push([last, message]);
  });
  window.exchange = async (answers) => {
    for (const [number, answer] of answers) open.get(number)(answer);
    for (let look = 0; look < 20 && waiting.length === 0; look++) await new Promise((resolve) => setTimeout(resolve, 5));
    return waiting.splice(0);
  };`;

export type ShellPage = {
  /** The address of the service with the shell. */
  url: string;
  /** Answers what the page has posted, for as long as `until` does not hold. */
  serve(
    engine: Engine,
    phone: (message: string) => Promise<string>,
    until: () => Promise<boolean>,
  ): Promise<void>;
  close(): void;
};

/**
 * The service with the script of the iPhone shell in its page, before all others, as the shell adds it. A
 * remotely controlled engine cannot do that, so a proxy writes it into the page.
 */
export async function openShellPage(serviceUrl: string, script: string): Promise<ShellPage> {
  const service = new URL(serviceUrl);
  const shell = `(() => {${queue}
    window.webkit = { messageHandlers: { chip: { postMessage: post } } };
    ((shellFacts) => {${script}})({"reader":"ready"});
  })();`;
  const headersFor = ({ headers }: IncomingMessage) => {
    const { "accept-encoding": _, ...rest } = headers;
    return {
      ...rest,
      host: service.host,
      ...(headers.origin === undefined ? {} : { origin: service.origin }),
    };
  };
  const forward = (from: IncomingMessage, to: ServerResponse) => {
    if (from.url === "/shell.js") {
      to.setHeader("content-type", "text/javascript");
      to.end(shell);
      return;
    }
    const { url, method } = from;
    const asked = request(
      new URL(url ?? "/", service),
      { method, headers: headersFor(from) },
      async (answer) => {
        if (!answer.headers["content-type"]?.startsWith("text/html")) {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(to);
          return;
        }
        const html = Buffer.concat(await answer.toArray()).toString();
        const { "content-length": _, ...headers } = answer.headers;
        to.writeHead(answer.statusCode ?? 502, headers);
        to.end(html.replace("<head>", '<head><script src="/shell.js"></script>'));
      },
    );
    asked.on("error", () => to.destroy());
    from.pipe(asked);
  };
  const server = createServer(forward);
  server.on("upgrade", (from, socket, head) => {
    const onward = connect(Number(service.port), service.hostname, () => {
      const lines = Object.entries(headersFor(from)).map(([name, value]) => `${name}: ${value}`);
      onward.write(`GET ${from.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      onward.write(head);
      socket.pipe(onward).pipe(socket);
    });
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const)
      one.on("error", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async serve(engine, phone, until) {
      let answers: [number, string][] = [];
      const deadline = Date.now() + patienceMs;
      while (!(await until())) {
        if (Date.now() > deadline)
          throw new Error(`the page is stuck\n${await engine.evaluate<string>("document.body.innerText")}`);
        const posted = await engine.evaluate<[number, string][]>(
          `window.exchange(${JSON.stringify(answers)})`,
        );
        answers = [];
        for (const [number, message] of posted) answers.push([number, await phone(message)]);
      }
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
