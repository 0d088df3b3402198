import assert from "node:assert/strict";
import type { Socket } from "node:net";
import test from "node:test";
import { verifySubprotocol } from "@assay/contract/verify-protocol";
import { createPartner } from "../../support/api.ts";
import { openConnection, parseAnswer, readToEnd, sendRaw } from "../../support/raw-http.ts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);
const authorization = `Authorization: Bearer ${partner.key.secret}\r\n`;

/** The headers with which Java's HttpClient and `curl --http2` offer HTTP/2 on a plain connection. */
const h2cOffer =
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n";
const webSocketOffer =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/** The answer to a request, after which the same connection must serve another one. */
async function exchange(request: string) {
  const socket = openConnection(url);
  const all = readToEnd(socket);
  socket.write(request);
  const first = parseAnswer(await readOne(socket));
  // It shows that the first was read to its end and left the connection in order.
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const second = (await all).slice(first.text.length);
  assert.equal(parseAnswer(second).status, 200, first.text + second);
  return first;
}

/** One answer, by the length that it declares. */
function readOne(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("close", () => reject(new Error(`the connection was closed after: ${text}`)));
    socket.on("data", function collect(chunk: Buffer) {
      text += chunk.toString("latin1");
      const { headers, body } = parseAnswer(text);
      if (!text.includes("\r\n\r\n") || body.length < Number(headers.get("content-length"))) return;
      socket.off("data", collect);
      resolve(text);
    });
  });
}

test("a client that offers HTTP/2 is served as one that does not", async () => {
  const body = JSON.stringify({ name: "Java" });
  const head = `Host: x\r\n${h2cOffer}${authorization}Content-Type: application/json\r\nUser-Agent: Java-http-client/21.0.2\r\n`;
  const read = await exchange(`GET /v1/sessions HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`);
  assert.equal(read.status, 200, read.text);
  const created = await exchange(
    `POST /v1/sessions HTTP/1.1\r\n${head}Content-Length: 31\r\n\r\n{"share_fields":{},"colour":10}`,
  );
  assert.match(created.body, /`colour` is not a field of this request/);
  const chunked = await exchange(
    `POST /v1/webhooks/endpoints HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
  assert.match(chunked.body, /`url` is required/);
  const empty = await exchange(`POST /v1/sessions HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`);
  assert.equal(empty.status, 201, empty.text);
});

test("an offer to become a WebSocket is ignored by every route that is none", async () => {
  for (const path of ["/v1/sessions", "/healthz", "/docs"]) {
    const answer = await exchange(`GET ${path} HTTP/1.1\r\nHost: x\r\n${webSocketOffer}${authorization}\r\n`);
    assert.equal(answer.status, 200, path);
    assert.ok(answer.headers.get("x-request-id"), path);
  }
  const session = `/v1/verify/session/vs_${"0".repeat(64)}`;
  const posted = await exchange(
    `POST ${session} HTTP/1.1\r\nHost: x\r\n${webSocketOffer}Content-Length: 0\r\n\r\n`,
  );
  assert.notEqual(posted.status, 101);
  const offered = await exchange(`GET ${session} HTTP/1.1\r\nHost: x\r\n${h2cOffer}\r\n`);
  assert.ok(offered.status >= 400 && offered.headers.get("x-request-id"), offered.text);
});

test("a handshake that is not one is refused in the envelope", async () => {
  const path = `/v1/verify/session/vs_${"0".repeat(64)}`;
  const protocol = `Sec-WebSocket-Protocol: ${verifySubprotocol}\r\n`;
  for (const [headers, message] of [
    ["Sec-WebSocket-Version: 13\r\n", /Sec-WebSocket-Key/],
    ["Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short\r\n", /Sec-WebSocket-Key/],
    ["Sec-WebSocket-Version: 7\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", /Sec-WebSocket-Version/],
  ] as const) {
    const answer = await sendRaw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}${protocol}\r\n`,
    );
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body, message);
    assert.match(answer.body, /^\{"data":null,"error":\{"code":"BAD_REQUEST"/);
    assert.ok(answer.headers.get("x-request-id"));
  }
});
