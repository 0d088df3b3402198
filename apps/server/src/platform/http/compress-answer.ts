import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { acceptedEncoding } from "./accepted-encoding.ts";
import { minCompressedBytes } from "./fixed-content.ts";

/**
 * Compresses the text of an answer to a read. On the thread that answers: a page of ten sessions takes 0.03 ms with brotli
 * and 0.2 ms with gzip, the way to another thread and back 0.6 ms, where it would also wait behind the hashing of passwords. Streams of events
 * are no text and stay as they are.
 *
 * Sizes of compressed answers can tell a secret to somebody who sees them on the wire, when they can also put text of their
 * choice beside it, again and again (BREACH). So answers to writes, the only ones that hold secrets, are never compressed,
 * and neither are those to requests that another site causes in a browser.
 */
export function compressAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  if (typeof payload !== "string" || payload.length < minCompressedBytes || !isOwnRead(request))
    return payload;
  reply.header("vary", "accept-encoding");
  const encoding = acceptedEncoding(request.headers["accept-encoding"]);
  if (encoding === null) return payload;
  reply.header("content-encoding", encoding);
  return encoding === "gzip"
    ? gzipSync(payload, { level: 4 })
    : brotliCompressSync(payload, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

function isOwnRead({ method, headers }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"] ?? "none";
  return (method === "GET" || method === "HEAD") && (site === "none" || site === "same-origin");
}
