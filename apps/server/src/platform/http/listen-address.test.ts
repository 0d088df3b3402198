import assert from "node:assert/strict";
import { createServer } from "node:net";
import test from "node:test";
import { ExplainedError } from "../lib/explained-error.ts";
import { checkAddress, explainListenError, openableUrl } from "./listen-address.ts";

const address = { host: "127.0.0.1", port: 3000, metricsPort: 9464 };
const failure = (fields: object) => Object.assign(new Error("listen failed"), fields);

function explained(fields: object, at = address): string {
  const error = explainListenError(failure(fields), at);
  assert.ok(error instanceof ExplainedError, String(error));
  return error.message;
}

test("a port that is taken is named with the setting that moves it", () => {
  const taken = { syscall: "listen", code: "EADDRINUSE" };
  assert.match(explained({ ...taken, port: 3000 }), /uses port 3000.* PORT=3001 npm start/);
  assert.match(explained(taken), /uses port 3000/);
  assert.match(explained({ ...taken, port: 9464 }), /uses port 9464.*METRICS_PORT=9465/);
  assert.match(explained({ ...taken, port: 65_534 }), / PORT=65535/);
  assert.match(explained({ ...taken, port: 65_535 }), / PORT=3000/);
  assert.match(explained({ ...taken, port: 80, code: "EACCES" }), /administrator may use port 80/);
});

test("a host that is none of this machine is named, and other errors stay as they are", () => {
  const at = { ...address, host: "nowhere.example" };
  for (const fields of [
    { syscall: "getaddrinfo", hostname: "nowhere.example" },
    { syscall: "listen", code: "EADDRNOTAVAIL" },
    { syscall: "listen", code: "EAFNOSUPPORT" },
  ])
    assert.match(explained(fields, at), /HOST is "nowhere\.example"/);
  for (const error of [
    failure({ syscall: "getaddrinfo", hostname: "database.example" }),
    failure({ syscall: "listen", code: "ENOMEM" }),
    failure({ syscall: "connect", code: "EADDRINUSE" }),
  ])
    assert.equal(explainListenError(error, at), error);
});

test("an address is free when both of its ports are, and a port of 0 is always free", async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  const taken = holder.address();
  assert.ok(taken !== null && typeof taken === "object");
  const check = (port: number, metricsPort: number) => checkAddress({ host: "127.0.0.1", port, metricsPort });
  try {
    await assert.rejects(check(taken.port, 0), ExplainedError);
    await assert.rejects(check(0, taken.port), /METRICS_PORT/);
    await check(0, 0);
  } finally {
    await new Promise((resolve) => holder.close(resolve));
  }
  await check(taken.port, 0);
  await check(taken.port, 0);
});

test("an address for all of the machine is shown as one that can be opened", () => {
  assert.equal(openableUrl("http://0.0.0.0:3000"), "http://127.0.0.1:3000");
  assert.equal(openableUrl("http://[::]:3000"), "http://[::1]:3000");
  assert.equal(openableUrl("https://a.example"), "https://a.example");
});
