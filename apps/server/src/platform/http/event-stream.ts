import { PassThrough } from "node:stream";
import type { EventFeed, StreamRight } from "@assay/contract/route";
import { streamHeartbeatSeconds } from "@assay/contract/verify";
import type { FastifyReply } from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { secondMs } from "../kernel/clock.ts";

/**
 * A client that does not read is disconnected, so that unread events do not fill the memory (backpressure).
 */
const maxUnreadBytes = 256 * 1024;
const eventNamePattern = /^[a-z_]+$/;

/**
 * Sends server-sent events until the feed closes the stream, the client disconnects, or `recheck` denies
 * access. `recheck` runs with every heartbeat and whenever the feed requests it.
 */
export function sendEvents(
  reply: FastifyReply,
  feed: EventFeed<unknown>,
  recheck: (() => Promise<unknown>) | null,
): FastifyReply {
  if (reply.request.method === "HEAD") {
    // A HEAD request gets only the headers, so the feed is closed at once.
    feed({ send: () => {}, close: () => {}, recheck: async () => "allowed" })();
    return withHeaders(reply).send();
  }
  const body = new PassThrough();
  const write = (text: string) => {
    if (body.writableEnded || body.destroyed) return;
    if (body.readableLength + body.writableLength + reply.raw.writableLength > maxUnreadBytes) body.destroy();
    else body.write(text);
  };
  const askAgain = async (): Promise<StreamRight> => {
    try {
      await recheck?.();
      return "allowed";
    } catch (error) {
      // A database that does not answer is no reason to disconnect clients.
      if (!(error instanceof ApiError) || error.status >= 500) return "unknown";
      body.end();
      return "refused";
    }
  };
  // Clients wait this long before they reconnect.
  write("retry: 3000\n\n");
  const unsubscribe = feed({
    send: (event, data) => {
      if (!eventNamePattern.test(event)) throw new Error("the name of an event is not a plain word");
      // JSON contains no raw line breaks, so one `data` line is enough.
      write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    close: (comeBackMs) => {
      if (comeBackMs !== undefined) write(`retry: ${comeBackMs}\n\n`);
      body.end();
    },
    recheck: askAgain,
  });
  // Keeps proxies from closing an idle stream, and detects a disconnected client.
  const heartbeat = setInterval(() => {
    write(": still here\n\n");
    void askAgain();
  }, streamHeartbeatSeconds * secondMs);
  heartbeat.unref();
  body.once("close", () => {
    clearInterval(heartbeat);
    unsubscribe();
  });
  reply.raw.once("close", () => body.destroy());
  return withHeaders(reply).send(body);
}

function withHeaders(reply: FastifyReply): FastifyReply {
  return (
    reply
      .code(200)
      .header("content-type", "text/event-stream; charset=utf-8")
      .header("x-accel-buffering", "no")
      // Closes the connection with its stream: kept alive, it would delay the shutdown.
      .header("connection", "close")
  );
}
