import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../kernel/api-error.ts";
import { systemClock } from "../kernel/clock.ts";
import { createLog } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import { Admission } from "./admission.ts";
import { mountWallet, type WalletEndpoints } from "./mount-wallet.ts";
import { createServer } from "./server.ts";

function serving(endpoints: Partial<WalletEndpoints>) {
  const logLines: string[] = [];
  const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });
  const metrics = new Metrics();
  const app = createServer({
    onAnswered: () => {},
    log,
    metrics,
    tracer: null,
    publicUrl: () => "https://id.example.com",
    trustProxy: [],
    maxConnections: 10,
    admission: new Admission({
      log,
      metrics,
      clock: systemClock,
      isSecure: () => true,
      slots: 8,
      maxRequestsPerSecond: 1000,
    }),
    isDraining: () => false,
  });
  mountWallet(
    app,
    {
      paths: { request: "/oid4vp/request", response: "/oid4vp/response", testStatus: "/oid4vp/status" },
      serveRequest: async () => null,
      receiveAnswer: async () => null,
      serveTestStatus: async () => null,
      ...endpoints,
    },
    log,
  );
  const answer = async (form: string, remoteAddress = "192.0.2.1") => {
    const { statusCode, headers, payload } = await app.inject({
      method: "POST",
      url: "/oid4vp/response/a",
      remoteAddress,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      payload: form,
    });
    return { status: statusCode, headers, body: JSON.parse(payload) as Record<string, unknown> };
  };
  return { answer, logLines };
}

test("one address has so many answers judged at once, and others do not wait for it", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { answer } = serving({
    receiveAnswer: async () => {
      await released;
      return { redirectUri: "https://id.example.com/verify/vs_a" };
    },
  });
  const first = Array.from({ length: 16 }, () => answer("response=a"));
  const refused = await answer("response=a");
  assert.deepEqual([refused.status, refused.body], [429, { error: "temporarily_unavailable" }]);
  assert.equal(refused.headers["retry-after"], "1");
  const other = answer("response=a", "198.51.100.1");
  release();
  for (const { status } of await Promise.all([...first, other])) assert.equal(status, 200);
  assert.equal((await answer("response=a")).status, 200);
});

test("a fault of ours is answered in OAuth's words, and the log has nothing of the answer", async () => {
  const { answer, logLines } = serving({
    receiveAnswer: async (_, { response }) => {
      throw response === "busy" ? new ApiError("SERVICE_UNAVAILABLE") : new TypeError("a bug");
    },
  });
  const busy = await answer("response=busy");
  assert.deepEqual([busy.status, busy.body], [503, { error: "temporarily_unavailable" }]);
  const broken = await answer("response=CANARY");
  assert.deepEqual([broken.status, broken.body], [500, { error: "server_error" }]);
  assert.ok(logLines.some((line) => line.includes("request failed")));
  assert.ok(!logLines.join("").includes("CANARY"));
});
