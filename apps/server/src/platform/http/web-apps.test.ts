import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after } from "node:test";
import { pathToFileURL } from "node:url";
import Fastify from "fastify";
import { ApiError } from "../kernel/api-error.ts";
import { mountWebApp } from "./web-apps.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-test-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function build(text: string): void {
  const dist = join(folder, "verify", "dist");
  mkdirSync(join(dist, "assets"), { recursive: true });
  mkdirSync(join(dist, ".vite"), { recursive: true });
  writeFileSync(join(dist, "index.html"), `<html lang="en"><head></head><body>${text}</body></html>`);
  writeFileSync(join(dist, "assets", "page-1.js"), `console.log("${text}")`);
  writeFileSync(
    join(dist, ".vite", "manifest.json"),
    JSON.stringify({ "texts/de.json": { file: "assets/de-1.js" } }),
  );
}

function startApp() {
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ApiError ? error.status : 500).send(String(error)),
  );
  mountWebApp(app, "verify", {
    apps: pathToFileURL(`${folder}/`),
    fill: async ({ url }) => (url.includes("filled") ? { language: "de", data: { url } } : null),
  });
  return async (path: string) => {
    const { statusCode, payload } = await app.inject(path);
    return { status: statusCode, text: payload };
  };
}

test("pages and files that were asked for come also when their folder is gone, and what was built since is seen after a restart", async () => {
  const get = startApp();
  assert.equal((await get("/verify/vs_1")).status, 503, "nothing is built");
  build("one");
  const paths = ["/verify/vs_1", "/verify/filled", "/verify/assets/page-1.js"];
  const before = [];
  for (const path of paths) before.push(await get(path));
  assert.deepEqual(
    before.map(({ status, text }) => [status, text.includes("one")]),
    paths.map(() => [200, true]),
  );
  assert.match(before[1]?.text ?? "", /<html lang="de".*assets\/de-1\.js/s);
  rmSync(join(folder, "verify"), { recursive: true });
  const afterwards = [];
  for (const path of paths) afterwards.push(await get(path));
  assert.deepEqual(afterwards, before);
  build("two");
  assert.match((await startApp()("/verify/filled")).text, /two/);
});

test("a name that is not in the folder is not found, whatever it leads to", async () => {
  build("one");
  const get = startApp();
  for (const name of ["none.js", "..%2findex.html", "page-1.js%00", "__proto__"])
    assert.equal((await get(`/verify/assets/${name}`)).status, 404, name);
});
