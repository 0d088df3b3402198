import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { SessionId } from "@assay/contract/ids";
import { verifySocketPath, verifySubprotocol } from "@assay/contract/verify-protocol";
import { ApiError } from "../../../src/platform/kernel/api-error.ts";
import { newId } from "../../../src/platform/kernel/ids.ts";
import { unwelcomedLimits } from "../../../src/verification/device-socket/registry.ts";
import { StatusFeed } from "../../../src/verification/verify/status-feed.ts";
import { createPartner } from "../../support/api.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { claimedSession, TestDevice } from "../../support/verify-device.ts";

const service = await startTestService({
  env: { TRUST_PROXY: "127.0.0.1" },
});

/** Each process counts its own sockets and connections. */
const [{ url: one }] = service.machines;

/** The status with which an upgrade is answered; a socket that is opened says nothing. */
async function knock(t: TestContext, sessionId: string, address: string): Promise<[number, Socket]> {
  const upgrade = request(`${one}${verifySocketPath(sessionId)}`, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      "sec-websocket-version": "13",
      "sec-websocket-protocol": verifySubprotocol,
      "x-forwarded-for": address,
    },
  });
  upgrade.end();
  const opened = once(upgrade, "upgrade").then(([, socket]): [number, Socket] => [101, socket as Socket]);
  const refused = once(upgrade, "response").then(([response]): [number, Socket] => {
    response.resume();
    return [response.statusCode, response.socket as Socket];
  });
  const [status, socket] = await Promise.race([opened, refused]);
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  return [status, socket];
}

const anySession = () => newId("vs", service.clock.now());
const statusesOf = (knocks: readonly [number, Socket][]) => knocks.map(([status]) => status);

test("sockets that were not welcomed: so many for a session, and one that leaves or is welcomed makes room", async (t) => {
  const { perSession } = unwelcomedLimits;
  const partner = await createPartner(service.api);
  const { sessionId, socketToken } = await claimedSession(partner.api);
  const device = await TestDevice.connect(one, sessionId, socketToken);
  t.after(() => device.connection.close());
  await device.expect("welcome");
  const silent: [number, Socket][] = [];
  for (let each = 0; each < perSession; each++) silent.push(await knock(t, sessionId, "192.0.2.1"));
  assert.deepEqual(new Set(statusesOf(silent)), new Set([101]), "the one that was welcomed takes no place");
  assert.equal((await knock(t, sessionId, "192.0.2.2"))[0], 429);
  assert.equal((await knock(t, anySession(), "192.0.2.1"))[0], 101, "another session is not concerned");
  silent[0]?.[1].destroy();
  await until("there is room again", async () => (await knock(t, sessionId, "192.0.2.1"))[0] === 101);
});

test("sockets that were not welcomed are limited for an address, as trusted proxies state it, or for 64 bits of IPv6", async (t) => {
  const { perAddress, perSession } = unwelcomedLimits;
  const inAll = Array.from({ length: perAddress / perSession }, anySession).flatMap((id) =>
    Array.from({ length: perSession }, () => id),
  );
  const silent = await Promise.all(
    inAll.map((id, index) => knock(t, id, `2001:db8:0:1::${(index + 1).toString(16)}`)),
  );
  assert.deepEqual(new Set(statusesOf(silent)), new Set([101]));
  assert.equal((await knock(t, anySession(), "2001:db8:0:1:ffff::1"))[0], 429);
  assert.equal((await knock(t, anySession(), "2001:db8:0:2::1"))[0], 101, "a neighbour is not concerned");
});

test("event streams: so many for an address, and one that ends makes room", async () => {
  const feed = new StatusFeed(service.core);
  const open = (index: number, address: string) =>
    feed.open(`vs_none_${Math.floor(index / 8)}` as SessionId, address);
  const streams = Array.from({ length: 1000 }, (_, index) => open(index, "192.0.2.1"));
  const isLimited = (error: unknown) => error instanceof ApiError && error.code === "RATE_LIMITED";
  assert.throws(() => open(1000, "192.0.2.1"), isLimited);
  open(1000, "192.0.2.2");
  const leave = streams[0]?.({ send: () => {}, close: () => {}, recheck: async () => "allowed" });
  leave?.();
  leave?.();
  open(1001, "192.0.2.1");
  assert.throws(() => open(1002, "192.0.2.1"), isLimited);
  feed.stop();
});

/** Whether the service keeps a connection that has just been made. */
async function isKept(t: TestContext, { url }: TestService): Promise<Socket | null> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  const outcome = await Promise.race([
    once(socket, "data").then(() => "kept"),
    once(socket, "close").then(() => "closed"),
  ]);
  return outcome === "kept" ? socket : null;
}

test("connections: one more than the limit is closed at once, and one that ends makes room", async (t) => {
  // One machine, because a load balancer keeps its own connections.
  const small = await startTestService({ machines: 1, env: { HTTP_MAX_CONNECTIONS: "10" }, role: "api" });
  const kept: Socket[] = [];
  for (let each = 0; each < 10; each++) kept.push((await isKept(t, small)) ?? assert.fail(String(each)));
  assert.equal(await isKept(t, small), null);
  const metrics = small.core.metrics.render();
  assert.match(metrics, /^assay_http_connections 10$/m);
  assert.match(metrics, /^assay_http_connections_dropped_total [1-9]/m);
  kept[0]?.destroy();
  await until("there is room again", async () => (await isKept(t, small)) !== null);
});

/** The kernel's bound of unaccepted connections; 0 on a system that shows none. */
const kernelBound = () => {
  try {
    return Number(readFileSync("/proc/sys/net/core/somaxconn", "utf8"));
  } catch {
    return 0;
  }
};

test("a thousand connections that come while the service is busy are open at once", {
  skip: kernelBound() < 1024 && "this system keeps fewer unaccepted connections",
}, async () => {
  const { port } = new URL(one);
  const program = `
    const sockets = Array.from({ length: 1000 }, () => require("node:net").connect(${port}, "127.0.0.1"));
    let open = 0;
    for (const socket of sockets) socket.on("connect", () => ++open === 1000 && process.exit(0));
    setTimeout(() => process.exit(1), 20_000);`;
  // Blocks this process, in which the service runs, until the other one has ended.
  const { status } = spawnSync(process.execPath, ["-e", program]);
  assert.equal(status, 0);
});
