import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import test from "node:test";
import Fastify from "fastify";
import { listenForMetrics, mountHealth, mountMetrics } from "./health.ts";

test("a process is ready until it knows a reason against it, and stays ready while it is overloaded", async () => {
  const app = Fastify();
  let reason: string | null = null;
  let isOverloaded = false;
  mountHealth(app, { problem: async () => reason, isOverloaded: () => isOverloaded });
  const ready = async () => {
    const answer = await app.inject("/readyz");
    return [answer.statusCode, answer.json()];
  };
  assert.deepEqual(await ready(), [200, { status: "ready", overloaded: false }]);
  isOverloaded = true;
  assert.deepEqual(await ready(), [200, { status: "ready", overloaded: true }]);
  reason = "the database is away";
  assert.deepEqual(await ready(), [503, { status: "not ready", reason }]);
  assert.deepEqual((await app.inject("/healthz")).json(), { status: "ok" });
});

test("metrics are for the one token", async () => {
  const app = Fastify();
  mountMetrics(
    app,
    async () => "assay_up 1\n",
    () => "secret",
  );
  const get = (authorization?: string) =>
    app.inject({ url: "/metrics", headers: authorization === undefined ? {} : { authorization } });
  const answer = await get("Bearer secret");
  assert.deepEqual([answer.statusCode, answer.payload], [200, "assay_up 1\n"]);
  for (const wrong of [undefined, "secret", "Bearer secrets", "Bearer "]) {
    const refused = await get(wrong);
    assert.deepEqual([refused.statusCode, refused.payload], [401, "unauthorized\n"], wrong);
  }
});

test("on a port of their own metrics are all there is, and a failure to read them is an answer", async () => {
  let isBroken = false;
  const render = async () => {
    if (isBroken) throw new Error("no figures");
    return "assay_up 1\n";
  };
  const server = await listenForMetrics(render, "127.0.0.1", 0);
  const { port } = server.address() as AddressInfo;
  const call = async (path: string, method = "GET") => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return [answer.status, await answer.text()];
  };
  try {
    assert.deepEqual(await call("/metrics"), [200, "assay_up 1\n"]);
    assert.deepEqual(await call("/metrics", "POST"), [404, "not found\n"]);
    assert.deepEqual(await call("/"), [404, "not found\n"]);
    isBroken = true;
    assert.deepEqual(await call("/metrics"), [500, "the metrics could not be read\n"]);
    await assert.rejects(listenForMetrics(render, "127.0.0.1", port), /EADDRINUSE/);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
