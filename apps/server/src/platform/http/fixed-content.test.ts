import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import Fastify from "fastify";
import { FixedContent, minCompressedBytes } from "./fixed-content.ts";

function serving(content: FixedContent, vary?: string) {
  const app = Fastify();
  app.get("/", (request, reply) => {
    if (vary !== undefined) reply.header("vary", vary);
    return content.send(request, reply);
  });
  return async (headers: Record<string, string> = {}) => {
    const { statusCode, headers: answered, rawPayload } = await app.inject({ url: "/", headers });
    return { status: statusCode, headers: answered, bytes: rawPayload };
  };
}

const long = "a page ".repeat(400);

test("content comes in the encoding that the client takes, and is the same in each", async () => {
  const get = serving(new FixedContent("text/plain", long));
  const plain = await get();
  assert.equal(plain.bytes.toString(), long);
  assert.equal(plain.headers["content-type"], "text/plain");
  assert.equal(plain.headers["content-encoding"], undefined);
  assert.equal(plain.headers.vary, "accept-encoding");
  // Encoded once and reused.
  for (const [encoding, decode] of [
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const)
    for (let time = 0; time < 2; time++) {
      const encoded = await get({ "accept-encoding": encoding });
      assert.equal(encoded.headers["content-encoding"], encoding);
      assert.equal(decode(encoded.bytes).toString(), long);
      assert.equal(encoded.headers.etag, plain.headers.etag);
    }
});

test("what is short or packed already stays as it is", async () => {
  const packed = randomBytes(2 * minCompressedBytes);
  for (const content of ["x".repeat(minCompressedBytes - 1), packed]) {
    const answer = await serving(new FixedContent("text/plain", content))({ "accept-encoding": "br, gzip" });
    assert.equal(answer.headers["content-encoding"], undefined);
    assert.deepEqual(answer.bytes, Buffer.from(content));
  }
  const shortest = new FixedContent("text/plain", "x".repeat(minCompressedBytes));
  assert.equal((await serving(shortest)({ "accept-encoding": "br" })).headers["content-encoding"], "br");
});

test("what was encoded beforehand is given as it was made", async () => {
  const get = serving(new FixedContent("text/plain", long, Buffer.from("made beforehand")));
  assert.equal((await get({ "accept-encoding": "br" })).bytes.toString(), "made beforehand");
  assert.equal(gunzipSync((await get({ "accept-encoding": "gzip" })).bytes).toString(), long);
});

test("a client that has the content is answered with 304, by any form of its tag", async () => {
  const get = serving(new FixedContent("text/plain", long), "accept");
  const etag = String((await get()).headers.etag);
  const strong = etag.replace(/^W\//, "");
  for (const tags of [etag, strong, `"other", ${etag}`, ` ${strong} ,"other"`, "*"]) {
    const answer = await get({ "if-none-match": tags });
    assert.equal(answer.status, 304, tags);
    assert.equal(answer.bytes.length, 0);
    assert.equal(answer.headers.etag, etag);
    assert.equal(answer.headers.vary, "accept, accept-encoding");
  }
  for (const tags of ['"other"', "", `${strong.slice(0, -1)}x"`])
    assert.equal((await get({ "if-none-match": tags })).status, 200, tags);
  const other = serving(new FixedContent("text/plain", `${long}.`));
  assert.equal((await other({ "if-none-match": etag })).status, 200, "other content has another tag");
});
