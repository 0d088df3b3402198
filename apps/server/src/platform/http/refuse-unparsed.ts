import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "../kernel/api-error.ts";
import { secondMs } from "../kernel/clock.ts";
import type { Log } from "../lib/log.ts";
import { writeFailure } from "./error-handler.ts";
import { newRequestId, standardHeaders } from "./standard-headers.ts";

/**
 * How long a refused connection is still read. Closed at once, with unread bytes, it would be reset before
 * the client gets the answer. With half, a client on a slow line may miss it; with twice, it costs memory.
 */
const lingerMs = secondMs;

/** The latest answer on a connection; the HTTP server records it with each request. */
export type LatestAnswers = WeakMap<Socket, ServerResponse>;

/**
 * Answers requests that the HTTP parser refuses, and closes the connection. Causes: headers that are too
 * large, an invalid request line or chunk, two lengths, a slow client.
 */
export function createUnparsedRefusal(options: { publicUrl: () => string; log: Log; latest: LatestAnswers }) {
  const refused = new WeakSet<Socket>();
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // The parser reports an error for every further byte.
    if (refused.has(socket)) return;
    refused.add(socket);
    const latest = options.latest.get(socket);
    const halfWritten = latest?.headersSent === true && !latest.writableFinished;
    if (error.code === "ECONNRESET" || !socket.writable || halfWritten) {
      socket.destroy();
      return;
    }
    const failure = explainRefusal(error.code ?? "");
    const requestId = newRequestId();
    options.log.info("request refused by the HTTP parser", {
      requestId,
      status: failure.status,
      reason: error.code,
    });
    const body = writeFailure(failure, options.publicUrl());
    const headers = {
      ...standardHeaders(requestId, options.publicUrl()),
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${head.join("")}\r\n${body}`);
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
}

function explainRefusal(code: string): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") return new ApiError("REQUEST_HEADERS_TOO_LARGE");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ApiError("REQUEST_TIMEOUT");
  return new ApiError("BAD_REQUEST", {
    message: "The request is not valid HTTP.",
    hint: "Check the request line, the headers and the length of the body. The usual cause is a proxy or a hand-written client.",
  });
}
