import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import test from "node:test";
import { routes } from "@assay/contract/routes";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { refuseBadHandshake, servesUpgrade } from "./mount-socket.ts";

const path = (routes.find(({ reply }) => reply.status === 101)?.path ?? "").replace(/:\w+/, "vs_1");

test("a request becomes a socket where the contract has one, by GET and for WebSocket only", () => {
  const serves = (method: string, url: string | undefined, upgrade?: string) =>
    servesUpgrade({ method, url, headers: { upgrade } } as unknown as IncomingMessage);
  assert.ok(serves("GET", path, "websocket"));
  assert.ok(serves("GET", `${path}?x=1`, "WebSocket"));
  assert.ok(!serves("POST", path, "websocket"));
  assert.ok(!serves("GET", path, "h2c"));
  assert.ok(!serves("GET", path));
  assert.ok(!serves("GET", "/v1/sessions", "websocket"));
  assert.ok(!serves("GET", undefined, "websocket"));
});

test("a handshake has version 13 and a key of 16 bytes", () => {
  const key = Buffer.alloc(16, 0xfb).toString("base64");
  const refusal = (headers: Record<string, string>) => {
    try {
      refuseBadHandshake({ headers } as unknown as FastifyRequest);
      return null;
    } catch (error) {
      return error instanceof ApiError ? error : assert.fail(String(error));
    }
  };
  const good = { "sec-websocket-version": "13", "sec-websocket-key": key };
  assert.equal(refusal(good), null);
  const version = refusal({ ...good, "sec-websocket-version": "8" });
  assert.equal(version?.headers["sec-websocket-version"], "13", "the answer says which one is meant");
  for (const wrong of ["", key.slice(1), `x${key}`, `${key}x`, key.replace("==", "AA")])
    assert.match(refusal({ ...good, "sec-websocket-key": wrong })?.message ?? "", /Sec-WebSocket-Key/, wrong);
  assert.match(refusal({ "sec-websocket-version": "13" })?.message ?? "", /Sec-WebSocket-Key/);
});
