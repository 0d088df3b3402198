import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import test, { after } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { createAuthority } from "../../../test/support/certificate.ts";
import { startReceiver } from "../../../test/support/receiver.ts";
import { exemptHostSet } from "./public-address.ts";
import { createSafeFetch, SafeFetchError } from "./safe-fetch.ts";

const authority = createAuthority();
const addresses = new Map<string, string[]>([["partner.example", ["127.0.0.1"]]]);
const safeFetch = createSafeFetch({
  resolveAddresses: async () => [],
  exemptHosts: exemptHostSet(["127.0.0.1", "partner.example", "broken.example"]),
  resolveExempt: async (host) => {
    const found = addresses.get(host);
    if (found === undefined) throw new Error("no resolver answered");
    return found;
  },
  ca: authority.certificate,
});
after(() => safeFetch.close());

const request = { headers: { "content-type": "text/plain" }, body: "hello", timeoutMs: 5000 };

async function problemOf(url: string, timeoutMs = request.timeoutMs): Promise<string> {
  try {
    const { status } = await safeFetch.post(url, { ...request, timeoutMs });
    return String(status);
  } catch (error) {
    assert.ok(error instanceof SafeFetchError);
    return error.problem;
  }
}

const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
});

async function listen(server: Server): Promise<number> {
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return (server.address() as AddressInfo).port;
}

test("each way of getting no answer has its name", async () => {
  const silent = await listen(createServer());
  assert.equal(await problemOf(`https://127.0.0.1:${silent}/`, 100), "timeout");

  const closing = createServer();
  const port = await listen(closing);
  closing.close();
  assert.equal(await problemOf(`https://127.0.0.1:${port}/`), "connection_failed");

  const notTls = await listen(
    createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 200 OK\r\n\r\n")),
  );
  assert.equal(await problemOf(`https://127.0.0.1:${notTls}/`), "tls_failed");

  const { cert, key } = authority.issue(["127.0.0.1"]);
  const notHttp = await listen(
    createTlsServer({ cert, key }, (socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end("this is not HTTP\r\n\r\n"));
    }),
  );
  assert.equal(await problemOf(`https://127.0.0.1:${notHttp}/`), "response_invalid");

  assert.equal(await problemOf("https://broken.example/"), "name_not_resolved");
  addresses.set("broken.example", []);
  assert.equal(await problemOf("https://broken.example/"), "name_not_resolved");
  assert.equal(await problemOf("http://127.0.0.1/"), "url_refused");
});

test("connections are kept and used again; the next address is tried when one is dead", async () => {
  const receiver = await startReceiver(authority, "partner.example");
  assert.equal(await problemOf(receiver.url), "200");
  for (let i = 0; i < 20; i++) assert.equal(await problemOf(receiver.url), "200");
  assert.ok(receiver.connections <= 2, `${receiver.connections} connections for 21 requests`);
  assert.equal(receiver.received[0]?.body, "hello");
  assert.equal(receiver.received[0]?.headers.host, `partner.example:${receiver.port}`);

  const second = await startReceiver(authority, "partner.example");
  // Nothing listens on the first one.
  addresses.set("partner.example", ["127.0.0.77", "127.0.0.1"]);
  assert.equal(await problemOf(second.url), "200");
});

test("an answer's body is read up to a bound and never waited for", async () => {
  const receiver = await startReceiver(authority, "127.0.0.1");
  receiver.answerWith((_received, response) => {
    response.writeHead(200);
    // More than is read, and it never ends.
    response.write("x".repeat(64 * 1024));
    return null;
  });
  assert.equal(await problemOf(receiver.url), "200");
  receiver.answerWith((_received, response) => {
    response.writeHead(503, { "retry-after": "7" });
    response.flushHeaders();
    return null;
  });
  assert.deepEqual(await safeFetch.post(receiver.url, request), {
    status: 503,
    retryAfter: "7",
    refusal: null,
  });
});

test("a GET gives the body up to the bound, and the time is for all of it", async () => {
  const receiver = await startReceiver(authority, "127.0.0.1");
  const plain = { etag: null, lastModified: null };
  const load = (maxBodyBytes: number, timeoutMs = 5000) =>
    safeFetch.get(receiver.url, { headers: { accept: "image/png" }, maxBodyBytes, timeoutMs });
  const answer = (status: number, headers: Record<string, string>, body: string, end = true) =>
    receiver.answerWith((_received, response) => {
      response.writeHead(status, headers).write(body);
      if (end) response.end();
      return null;
    });

  for (const headers of [{}, { "content-length": "1000" }] as Record<string, string>[]) {
    answer(200, headers, "x".repeat(1000));
    assert.deepEqual(await load(1000), { status: 200, body: Buffer.from("x".repeat(1000)), ...plain });
    assert.deepEqual(await load(999), { status: 200, body: null, ...plain });
  }
  assert.equal(receiver.received[0]?.headers.accept, "image/png");
  answer(302, { location: "https://127.0.0.1/elsewhere" }, "moved");
  assert.deepEqual(await load(1000), { status: 302, body: null, ...plain });
  answer(304, { etag: '"v2"', "last-modified": "x".repeat(300) }, "");
  assert.deepEqual(
    await load(1000),
    { status: 304, body: null, etag: '"v2"', lastModified: null },
    "what a later request may be made conditional on, where it has a likely length",
  );
  const askedSoFar = receiver.received.length;
  // Refused by its announced length, without waiting for the rest, which never comes.
  answer(200, { "content-length": "2000" }, "x", false);
  assert.deepEqual(await load(1000), { status: 200, body: null, ...plain });
  assert.equal(receiver.received.length, askedSoFar + 1, "no redirect was followed");

  answer(200, {}, "x", false);
  await assert.rejects(load(1000, 200), { problem: "timeout" });
  receiver.answerWith((_received, response) => {
    response.writeHead(200, { "content-length": "10" }).write("x", () => response.destroy());
    return null;
  });
  await assert.rejects(load(1000), { problem: "connection_failed" });
});
