import assert from "node:assert/strict";
import test from "node:test";
import { readAnswer } from "./exchange.ts";

const text = (start: Uint8Array, isCut = false) =>
  readAnswer(500, { reason: "", start: Buffer.from(start), isCut }).text;

test("an answer is kept as text, whatever its bytes are", () => {
  assert.equal(text(Buffer.from("database is down\n")), "database is down\n");
  assert.equal(text(Buffer.from([0x61, 0x00, 0xff, 0x62])), "a\ufffd\ufffdb");
  assert.equal(text(Buffer.alloc(0)), "");
});

test("a character that the end of what is kept cuts in two is left out", () => {
  const cut = Buffer.from("für").subarray(0, 2);
  assert.equal(text(cut, true), "f");
  assert.equal(text(cut), "f\ufffd");
});

test("the status line is the status and the reason, without a page of it", () => {
  const line = (reason: string) =>
    readAnswer(503, { reason, start: Buffer.alloc(0), isCut: false }).statusLine;
  assert.equal(line("Service Unavailable"), "503 Service Unavailable");
  assert.equal(line(""), "503");
  assert.equal(line("x".repeat(5_000)).length, 200);
});
