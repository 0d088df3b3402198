// The partner's side of the webhook benchmark: an HTTPS server that answers at once (or after `?ms=`), and a
// port that accepts connections and stays silent. Talks to the benchmark over the process channel.

import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";

let receipts: [id: string, at: number][] | null = null;
let count = 0;

const server = createServer(
  { cert: process.env.CERT ?? "", key: process.env.KEY ?? "" },
  (request, response) => {
    const at = performance.timeOrigin + performance.now();
    count += 1;
    receipts?.push([String(request.headers["webhook-id"]), at]);
    request.resume();
    request.on("end", () => {
      const delayMs = Number(/[?&]ms=(\d+)/.exec(request.url ?? "")?.[1] ?? 0);
      const answer = () => response.writeHead(200).end();
      if (delayMs === 0) answer();
      else setTimeout(answer, delayMs);
    });
  },
);
server.keepAliveTimeout = 60_000;
const silent = createTcpServer((socket) => {
  socket.on("error", () => {});
  socket.resume();
});
await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", 1000, resolve));
await new Promise<void>((resolve) => silent.listen(0, "0.0.0.0", 1000, resolve));

process.on("message", (message: { ask: "ports" | "count" | "record" | "receipts" }) => {
  if (message.ask === "ports")
    process.send?.({
      port: (server.address() as AddressInfo).port,
      silentPort: (silent.address() as AddressInfo).port,
    });
  if (message.ask === "count") process.send?.({ count });
  if (message.ask === "record") {
    receipts = [];
    process.send?.({});
  }
  if (message.ask === "receipts") {
    process.send?.({ receipts: receipts ?? [] });
    receipts = null;
  }
});
process.send?.({ ready: true });
