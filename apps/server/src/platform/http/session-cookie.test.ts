import assert from "node:assert/strict";
import test from "node:test";
import type { FastifyReply } from "fastify";
import { sessionTokenOf, writeSessionCookie } from "./session-cookie.ts";

test("the token is the value of the one cookie that counts, whatever stands around it", () => {
  for (const [header, token] of [
    ["assay_session=abc", "abc"],
    ["a=1; assay_session = abc ; b=2", "abc"],
    ["assay_session=a=b", "a=b"],
    ["x_assay_session=abc", null],
    ["assay_session", null],
    ["assay_session=", null],
    ["assay_session= ; assay_session=later", null],
    [undefined, null],
  ] as const)
    assert.equal(sessionTokenOf(header, false), token, header);
});

test("on https only the cookie that no neighbour can plant counts", () => {
  const both = "assay_session=planted; __Host-assay_session=own";
  assert.equal(sessionTokenOf(both, true), "own");
  assert.equal(sessionTokenOf(both, false), "planted");
  assert.equal(sessionTokenOf("assay_session=planted", true), null);
});

test("a cookie is written for scripts to leave alone, and cleared with an age of zero", () => {
  const written: string[] = [];
  const reply = { header: (_name: string, value: string) => written.push(value) } as unknown as FastifyReply;
  writeSessionCookie(reply, { token: "abc", maxAgeSeconds: 60 }, false);
  writeSessionCookie(reply, { token: "abc", maxAgeSeconds: 60 }, true);
  writeSessionCookie(reply, null, false);
  assert.deepEqual(written, [
    "assay_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60",
    "__Host-assay_session=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure",
    "assay_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0",
  ]);
});
