import assert from "node:assert/strict";
import { get } from "node:http";
import test from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { createPartner, expectData } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);
const authorization = `Bearer ${partner.key.secret}`;

/** The bytes as they are on the wire. */
function read(path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, string>; bytes: Buffer }>(
    (resolve, reject) => {
      get(url + path, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            bytes: Buffer.concat(chunks),
          }),
        );
      }).on("error", reject);
    },
  );
}

test("answers to reads, pages, documents and assets come compressed as the client can read them", async () => {
  for (let index = 0; index < 4; index++) expectData(await partner.api.post("/v1/sessions", {}), 201);
  const app = (await read("/dashboard")).bytes.toString();
  const asset = /\/dashboard\/assets\/[^"]+\.js/.exec(app)?.[0] ?? "";
  for (const path of [
    "/v1/sessions",
    "/",
    "/docs/errors",
    "/openapi",
    "/asyncapi",
    "/assets/pages.css",
    asset,
  ]) {
    const plain = await read(path, { authorization });
    assert.equal(plain.headers["content-encoding"], undefined, path);
    assert.match(String(plain.headers.vary), /(^|, )accept-encoding$/, path);
    for (const [encoding, open] of [
      ["gzip", gunzipSync],
      ["br", brotliDecompressSync],
    ] as const) {
      const packed = await read(path, { authorization, "accept-encoding": encoding });
      assert.equal(packed.headers["content-encoding"], encoding, path);
      assert.equal(packed.headers.vary, plain.headers.vary, path);
      assert.equal(Number(packed.headers["content-length"]), packed.bytes.length, path);
      assert.ok(packed.bytes.length < 0.6 * plain.bytes.length, `${path} ${encoding}`);
      assert.deepEqual(open(packed.bytes), plain.bytes, path);
      const head = await fetch(url + path, {
        method: "HEAD",
        headers: { authorization, "accept-encoding": encoding },
      });
      assert.equal(head.headers.get("content-length"), packed.headers["content-length"], path);
    }
  }
});

test("what is small, an answer to a write, and what another site asks for in a browser stay plain", async () => {
  const headers = { authorization, "accept-encoding": "gzip, br" };
  assert.equal((await read("/healthz", headers)).headers["content-encoding"], undefined);
  const share = Object.fromEntries(
    ["given_names", "family_name", "date_of_birth", "nationality_code"].map((name) => [
      name,
      { required: true, reason: "x".repeat(200) },
    ]),
  );
  const created = await partner.api.call("POST", "/v1/sessions", { body: { share_fields: share }, headers });
  assert.ok(expectData(created, 201) && created.text.length > 1024);
  assert.equal(created.headers.get("content-encoding"), null);
  const foreign = await read("/v1/sessions", { ...headers, "sec-fetch-site": "cross-site" });
  assert.equal(foreign.headers["content-encoding"], undefined);
  assert.equal(
    (await read("/v1/sessions", { ...headers, "sec-fetch-site": "same-origin" })).headers["content-encoding"],
    "br",
  );
});

test("an event stream is never compressed", async () => {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const stream = await fetch(`${url}/v1/verify/session/${session.id}/events`, {
    headers: { "accept-encoding": "gzip, br" },
  });
  assert.equal(stream.headers.get("content-encoding"), null);
  await stream.body?.cancel();
});

test("a client that already has a page, document or asset gets 304", async () => {
  for (const path of [
    "/",
    "/docs/errors",
    "/openapi",
    "/asyncapi",
    "/reference",
    "/assets/icon.svg",
    "/dashboard/sign-in",
  ]) {
    const { etag = "" } = (await read(path)).headers;
    assert.match(etag, /^W\/"[\w-]{22}"$/, path);
    for (const known of [etag, `"other", ${etag}`, etag.slice(2), "*"]) {
      const again = await read(path, { "if-none-match": known, "accept-encoding": "br" });
      assert.equal(`${again.status} ${again.bytes.length}`, "304 0", path);
      assert.equal(again.headers.etag, etag);
    }
    assert.equal((await read(path, { "if-none-match": 'W/"other"' })).status, 200);
  }
});
