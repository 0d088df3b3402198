import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import Fastify from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { mountAppFile } from "./app-file.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function serving(file: string) {
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ApiError ? error.status : 500).send(),
  );
  mountAppFile(app, file);
  return async (headers: Record<string, string> = {}) => {
    const answer = await app.inject({ url: "/app.apk", headers });
    return { status: answer.statusCode, headers: answer.headers, text: answer.payload };
  };
}

test("the app is what is in the file now, and a client that has it gets no bytes", async () => {
  const file = join(folder, "app.apk");
  const get = serving(file);
  assert.equal((await get()).status, 404, "no file yet");
  writeFileSync(file, "PK one");
  const first = await get();
  assert.deepEqual([first.status, first.text], [200, "PK one"]);
  assert.equal(first.headers["content-type"], "application/vnd.android.package-archive");
  assert.equal(first.headers["cache-control"], "no-cache");
  const etag = String(first.headers.etag);
  assert.deepEqual(await get().then(({ text }) => text), "PK one");
  const again = await get({ "if-none-match": etag });
  assert.deepEqual([again.status, again.text, again.headers.etag], [304, "", etag]);
  writeFileSync(file, "PK two, longer");
  const second = await get({ "if-none-match": etag });
  assert.deepEqual([second.status, second.text], [200, "PK two, longer"]);
  rmSync(file);
  assert.equal((await get()).status, 404);
});

test("without a file there is no page; a file that is too large or cannot be read is a fault of the service", async () => {
  assert.equal((await serving("")()).status, 404);
  const large = join(folder, "large.apk");
  writeFileSync(large, "");
  truncateSync(large, 128 * 1024 * 1024 + 1);
  assert.equal((await serving(large)()).status, 503);
  const directory = join(folder, "directory");
  mkdirSync(directory);
  const get = serving(directory);
  assert.equal((await get()).status, 500);
  assert.equal((await get()).status, 500);
});
