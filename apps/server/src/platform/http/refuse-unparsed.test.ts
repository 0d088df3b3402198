import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test, { after } from "node:test";
import { expectRefusal, openConnection, parseAnswer, readToEnd } from "../../../test/support/raw-http.ts";
import { createLog } from "../lib/log.ts";
import { createUnparsedRefusal, type LatestAnswers } from "./refuse-unparsed.ts";

const logLines: string[] = [];
const latest: LatestAnswers = new WeakMap();
const server = createServer(
  { connectionsCheckingInterval: 50, headersTimeout: 100, requestTimeout: 100 },
  (request, response) => {
    latest.set(request.socket, response);
    response.writeHead(200, { "content-length": "100" });
    response.write("begun");
  },
);
server.on(
  "clientError",
  createUnparsedRefusal({
    publicUrl: () => "https://assay.example.com",
    log: createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) }),
    latest,
  }) as never,
);
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test("a client that does not finish its request is told 408 in the envelope", async () => {
  const socket = openConnection(url);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n");
  const answer = parseAnswer(await readToEnd(socket));
  expectRefusal(answer, 408, "REQUEST_TIMEOUT");
  assert.match(answer.headers.get("strict-transport-security") ?? "", /max-age/);
  assert.ok(logLines.some((line) => line.includes(answer.headers.get("x-request-id") ?? "none")));
});

test("a refusal is never written into an answer that has begun", async () => {
  const socket = openConnection(url);
  const all = readToEnd(socket);
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.write("zz\r\n");
  assert.equal(parseAnswer(await all).body, "begun");
});
