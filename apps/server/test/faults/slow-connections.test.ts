import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createPartner } from "../support/api.ts";
import { expectRefusal, openConnection, parseAnswer, readToEnd } from "../support/raw-http.ts";
import { startTestService } from "../support/service.ts";
import { tally } from "../support/tally.ts";

const service = await startTestService({ machines: 1, role: "api" });
const { url } = service;
const { port } = new URL(url);
const partner = await createPartner(service.api);
const organizations: Awaited<ReturnType<typeof createPartner>>[] = [];
for (let i = 0; i < 12; i++) organizations.push(await createPartner(service.api));

const gauge = (name: string, { core } = service) =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec(core.metrics.render())?.[1]);

/** A connection from one of the addresses of this machine. */
function connectFrom(localAddress: string): Socket {
  return connect({ host: "127.0.0.1", port: Number(port), localAddress }).on("error", () => {});
}

const post = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${headers}\r\n\r\n{`;
const signIn = (headers: string) => post("/v1/auth/sign-in/email", headers);

/** Sends a request and then a byte every second. Returns the answer when the service ends it. */
async function trickle(socket: Socket, request: string): Promise<string> {
  const answer = readToEnd(socket);
  socket.write(request);
  const dripping = setInterval(() => socket.write(" "), 1000);
  try {
    return await answer;
  } finally {
    clearInterval(dripping);
  }
}

// The timeouts are those of Node and of real connections, so no clock can be moved.
suite("slow connections", { concurrency: true }, () => {
  test("a connection that sends its headers letter by letter, or nothing at all, is ended within half a minute", async () => {
    const startedAt = performance.now();
    const [slow, silent] = [openConnection(url), openConnection(url)];
    const answers = [readToEnd(slow), readToEnd(silent)] as const;
    slow.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
    const dripping = setInterval(() => slow.write("x"), 1000);
    const [told] = await Promise.all(answers);
    clearInterval(dripping);
    const seconds = (performance.now() - startedAt) / 1000;
    // Node's default is a minute.
    assert.ok(seconds > 14 && seconds < 55, `${seconds} s`);
    expectRefusal(parseAnswer(told), 408, "REQUEST_TIMEOUT");
  });

  test("bodies that trickle and answers that are not read leave every request of another tenant served, and are ended", async () => {
    const unread = Array.from({ length: 40 }, (_, i) => {
      const socket = connectFrom(`127.0.0.${60 + (i % 8)}`);
      socket.write("GET /openapi HTTP/1.1\r\nhost: x\r\n\r\n".repeat(12));
      return socket;
    });
    const trickling = [
      ...Array.from({ length: 400 }, (_, i) =>
        trickle(connectFrom(`127.0.0.${10 + (i % 10)}`), signIn("content-length: 1000")),
      ),
      ...Array.from({ length: 120 }, (_, i) =>
        trickle(
          connectFrom("127.0.0.30"),
          post(
            "/v1/sessions",
            `content-length: 1000\r\nauthorization: Bearer ${organizations[i % 12]?.key.secret}`,
          ),
        ),
      ),
    ];
    let left = trickling.length;
    const ended = () => left--;
    for (const one of trickling) one.then(ended, ended);
    // On a slow machine the first are ended before the last have begun.
    while (gauge("assay_admission_reading") < trickling.length && left === trickling.length)
      await setTimeout(100);
    const statuses = new Set<number>();
    do {
      statuses.add((await partner.api.post("/v1/sessions", {})).status);
      statuses.add((await partner.api.get("/v1/sessions")).status);
      await setTimeout(300);
    } while (left > 0);
    assert.deepEqual([...statuses].sort(), [200, 201]);
    for (const answer of await Promise.all(trickling))
      expectRefusal(parseAnswer(answer), 408, "REQUEST_TIMEOUT");
    tally("slow connections ended", trickling.length);
    assert.equal(gauge("assay_admission_placed"), 0);
    for (const socket of unread) socket.destroy();
  });

  test("a body that never becomes complete is answered with 408, in whatever way it is announced", async () => {
    const announced = {
      "longer than what is sent": signIn("content-length: 300"),
      "chunked without an end": signIn("transfer-encoding: chunked").replace(/\{$/, "1\r\n{\r\n"),
      "expected to be asked for": signIn("content-length: 3\r\nexpect: 100-continue").slice(0, -1),
    };
    await Promise.all(
      Object.entries(announced).map(async ([how, request]) => {
        const socket = openConnection(url);
        const answer = readToEnd(socket);
        socket.write(request);
        const text = (await answer).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
        expectRefusal(parseAnswer(text), 408, "REQUEST_TIMEOUT");
        assert.equal(parseAnswer(text).headers.get("connection"), "close", how);
      }),
    );
  });

  test("a body that is chunked and grows beyond what its route takes is refused before it ends", async () => {
    const socket = openConnection(url);
    const answer = readToEnd(socket);
    const chunk = `${(10_000).toString(16)}\r\n${" ".repeat(10_000)}\r\n`;
    socket.write(signIn("transfer-encoding: chunked").replace(/\{$/, chunk));
    for (let i = 1; i < 7; i++) {
      await setTimeout(10);
      socket.write(chunk);
    }
    expectRefusal(parseAnswer(await answer), 413, "PAYLOAD_TOO_LARGE");
  });

  test("a client that reads nothing of its answers is disconnected", async () => {
    // With no other connection, so that the figure is about this one.
    const alone = await startTestService({ machines: 1, role: "api" });
    const connections = () => gauge("assay_http_connections", alone);
    const socket = openConnection(alone.url).on("error", () => {});
    socket.write("GET /openapi HTTP/1.1\r\nhost: x\r\n\r\n".repeat(60));
    while (connections() !== 1) await setTimeout(10);
    const startedAt = performance.now();
    while (connections() !== 0) await setTimeout(100);
    const seconds = (performance.now() - startedAt) / 1000;
    // The service checks every 30 seconds whether something was sent since.
    assert.ok(seconds > 25, `${seconds} s`);
    socket.destroy();
  });
});
