import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { PassThrough } from "node:stream";
import test from "node:test";
import { streamHeartbeatSeconds } from "@assay/contract/verify";
import type { FastifyReply } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { sendEvents } from "./event-stream.ts";

/** The part of an answer that a stream uses. */
function answer() {
  const sent: { body: PassThrough | null } = { body: null };
  const reply = {
    request: { raw: {}, method: "GET" },
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
