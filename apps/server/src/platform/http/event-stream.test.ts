import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { PassThrough } from "node:stream";
import test from "node:test";
import type { EventStream } from "@assay/contract/route";
import { streamHeartbeatSeconds } from "@assay/contract/verify";
import type { FastifyReply } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { sendEvents } from "./event-stream.ts";

/** The part of an answer that a stream uses. */
function answer(method = "GET") {
  const sent: { body: PassThrough | null } = { body: null };
  const reply = {
    request: { raw: {}, method },
    raw: Object.assign(new EventEmitter(), { writableLength: 0 }),
    code: () => reply,
    header: () => reply,
    send: (body: PassThrough) => {
      sent.body = body;
      return reply;
    },
  };
  return { reply: reply as unknown as FastifyReply, sent };
}

for (const [what, failure, isClosed] of [
  ["is closed when its caller is not admitted any more", new ApiError("UNAUTHORIZED"), true],
  ["stays open when that cannot be found out", new Error("the database does not answer"), false],
  ["stays open when the service has no room to find out", new ApiError("SERVICE_UNAVAILABLE"), false],
] as const) {
  test(`a stream ${what}`, async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { reply, sent } = answer();
    let isAdmitted = true;
    const recheck = async () => {
      if (!isAdmitted) throw failure;
    };
    sendEvents(reply, () => () => {}, recheck);
    const beat = async () => {
      t.mock.timers.tick(streamHeartbeatSeconds * 1000);
      await new Promise(setImmediate);
    };
    await beat();
    assert.equal(sent.body?.writableEnded, false);
    isAdmitted = false;
    await beat();
    assert.equal(sent.body?.writableEnded, isClosed);
    sent.body?.destroy();
  });
}

/** Opens a stream whose feed stays open, and returns what the feed received. */
function opened(method?: string) {
  const { reply, sent } = answer(method);
  const given: { stream: EventStream<unknown> | null; left: number } = { stream: null, left: 0 };
  sendEvents(
    reply,
    (stream) => {
      given.stream = stream;
      return () => {
        given.left += 1;
      };
    },
    null,
  );
  const { stream } = given;
  assert.ok(stream !== null);
  return { reply, stream, given, sent, text: () => sent.body?.read()?.toString() ?? "" };
}

test("events are written as lines, and a stream that is closed says when to come back", async () => {
  const { stream, given, sent, text } = opened();
  assert.equal(text(), "retry: 3000\n\n");
  stream.send("status", { a: "b\nc" });
  assert.equal(text(), 'event: status\ndata: {"a":"b\\nc"}\n\n');
  assert.throws(() => stream.send("two words", {}), /not a plain word/);
  assert.throws(() => stream.send("status\n", {}), /not a plain word/);
  assert.equal(await stream.recheck(), "allowed");
  stream.close(500);
  stream.send("status", {});
  assert.equal(text(), "retry: 500\n\n", "and nothing after its end");
  sent.body?.resume();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  assert.equal(given.left, 1, "the feed is left once");
});

test("a stream that is closed without a time keeps the usual one", () => {
  const { stream, text } = opened();
  text();
  stream.close();
  assert.equal(text(), "");
});

test("a client that does not read is let go of, and so is one that has gone", async () => {
  const flooded = opened();
  const half = "x".repeat(128 * 1024);
  flooded.stream.send("status", half);
  assert.equal(flooded.sent.body?.destroyed, false);
  flooded.stream.send("status", half);
  flooded.stream.send("status", half);
  assert.equal(flooded.sent.body?.destroyed, true);
  const gone = opened();
  gone.reply.raw.emit("close");
  assert.equal(gone.sent.body?.destroyed, true);
  await new Promise(setImmediate);
  assert.deepEqual([flooded.given.left, gone.given.left], [1, 1]);
});

test("who asks for the headers alone has left before the feed begins", async () => {
  const { stream, given, sent } = opened("HEAD");
  assert.deepEqual([given.left, sent.body], [1, undefined]);
  assert.equal(await stream.recheck(), "allowed");
});

test("the service sends a sign of life until the stream ends", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { sent, text } = opened();
  text();
  t.mock.timers.tick(streamHeartbeatSeconds * 1000);
  assert.equal(text(), ": still here\n\n");
  sent.body?.destroy();
});
