import assert from "node:assert/strict";
import test from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { compressAnswer } from "./compress-answer.ts";
import { minCompressedBytes } from "./fixed-content.ts";

const long = "x".repeat(minCompressedBytes);

function compressed(payload: unknown, headers: Record<string, string>, method = "GET") {
  const written: Record<string, string> = {};
  const reply = {
    header: (name: string, value: string) => {
      written[name] = value;
    },
  } as unknown as FastifyReply;
  const sent = compressAnswer({ method, headers } as unknown as FastifyRequest, reply, payload);
  return { sent, written };
}

const takesAll = { "accept-encoding": "br, gzip" };

test("a long text that is read comes in the encoding that the client likes", () => {
  const brotli = compressed(long, takesAll);
  assert.deepEqual(brotli.written, { vary: "accept-encoding", "content-encoding": "br" });
  assert.equal(brotliDecompressSync(brotli.sent as Buffer).toString(), long);
  const gzip = compressed(long, { "accept-encoding": "gzip" }, "HEAD");
  assert.deepEqual(gzip.written, { vary: "accept-encoding", "content-encoding": "gzip" });
  assert.equal(gunzipSync(gzip.sent as Buffer).toString(), long);
  assert.deepEqual(compressed(long, {}), { sent: long, written: { vary: "accept-encoding" } });
});

test("what is short, no text, or an answer to a write stays as it is", () => {
  const short = long.slice(1);
  assert.deepEqual(compressed(short, takesAll), { sent: short, written: {} });
  const bytes = Buffer.from(long);
  assert.deepEqual(compressed(bytes, takesAll), { sent: bytes, written: {} });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    assert.deepEqual(compressed(long, takesAll, method), { sent: long, written: {} }, method);
});

test("what another site causes in a browser stays as it is, so that its size tells nothing", () => {
  for (const site of ["cross-site", "same-site"])
    assert.deepEqual(compressed(long, { ...takesAll, "sec-fetch-site": site }), { sent: long, written: {} });
  for (const site of ["same-origin", "none"])
    assert.equal(compressed(long, { ...takesAll, "sec-fetch-site": site }).written["content-encoding"], "br");
});
