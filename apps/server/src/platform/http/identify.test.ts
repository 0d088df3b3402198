import assert from "node:assert/strict";
import test from "node:test";
import type { FastifyRequest } from "fastify";
import { bearerOf, isOwnOrigin } from "./identify.ts";

const request = (headers: Record<string, string>) => ({ headers }) as unknown as FastifyRequest;

test("a bearer token is the one word after the name of the scheme", () => {
  for (const [authorization, token] of [
    ["Bearer abc", "abc"],
    ["bearer   abc", "abc"],
    ["Bearer a b", null],
    ["Bearer abc ", null],
    ["Bearerabc", null],
    ["x Bearer abc", null],
    ["Bearer ", null],
    ["Basic abc", null],
  ] as const)
    assert.equal(bearerOf(request({ authorization })), token, authorization);
  assert.equal(bearerOf(request({})), null);
});

test("the service's own origin is its public address, and nothing that resembles it", () => {
  const url = "https://id.example.com";
  const asked = request({ host: "id.example.com" });
  assert.ok(isOwnOrigin(url, asked, url));
  for (const origin of [
    "http://id.example.com",
    "https://id.example.com:8443",
    "https://evil.example",
    "null",
  ])
    assert.ok(!isOwnOrigin(origin, asked, url), origin);
});

test("on a loopback address the origin may have another of its names, on the host that was asked", () => {
  const url = "http://127.0.0.1:3000";
  const own = (origin: string, host: string, publicUrl = url) =>
    isOwnOrigin(origin, request({ host }), publicUrl);
  assert.ok(own("http://localhost:3000", "localhost:3000"));
  assert.ok(own("http://[::1]:3000", "[::1]:3000"));
  assert.ok(own("http://127.0.0.2:3000", "127.0.0.2:3000", "http://localhost:3000"));
  assert.ok(!own("http://localhost:4000", "localhost:3000"), "another program of the machine");
  assert.ok(
    !own("http://127.evil.example:3000", "127.evil.example:3000"),
    "a name that begins like an address",
  );
  assert.ok(!own("http://192.168.0.1:3000", "192.168.0.1:3000"), "another machine");
  assert.ok(!own("http://localhost:3000", "localhost:3000", "https://id.example.com"));
  assert.ok(!own("nothing", "nothing"));
});
