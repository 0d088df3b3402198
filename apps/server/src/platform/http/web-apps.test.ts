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

/** The app with these options, requested with these headers. */
function serving(
  options: Omit<Parameters<typeof mountWebApp>[2] & object, "apps">,
  name = "verify" as const,
) {
  const app = Fastify();
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof ApiError ? error.status : 500).send(String(error)),
  );
  mountWebApp(app, name, { apps: pathToFileURL(`${folder}/`), ...options });
  return (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
}

test("a page may be framed by the one origin that its address has, and by none where it has none", async () => {
  build("one");
  const asked: string[] = [];
  const get = serving({
    frameAncestor: async (rest) => {
      asked.push(rest);
      return rest === "framed" ? "https://shop.example" : null;
    },
    ownHeaders: { preview: { "x-frame-options": "SAMEORIGIN" } },
  });
  const framed = await get("/verify/framed", { "sec-fetch-dest": "iframe" });
  assert.match(String(framed.headers["content-security-policy"]), /frame-ancestors https:\/\/shop\.example/);
  assert.equal(framed.headers["x-frame-options"], undefined);
  const other = await get("/verify/other", { "sec-fetch-dest": "iframe" });
  assert.match(String(other.headers["content-security-policy"]), /frame-ancestors 'none'/);
  assert.deepEqual(asked, ["framed", "other"]);
  const alone = await get("/verify/framed", { "sec-fetch-dest": "document" });
  assert.match(String(alone.headers["content-security-policy"]), /frame-ancestors 'none'/);
  const own = await get("/verify/preview");
  assert.equal(own.headers["x-frame-options"], "SAMEORIGIN");
  assert.equal(asked.length, 2, "nothing is looked up for a page by itself or one with headers of its own");
  for (const { headers } of [framed, other, own]) assert.equal(headers["referrer-policy"], "no-referrer");
});

test("where there can be no page a browser is answered with 404, and a program gets the app", async () => {
  build("one");
  const get = serving({ isPage: (rest) => rest === "there" });
  const browser = { accept: "text/html" };
  assert.equal((await get("/verify/there", browser)).statusCode, 200);
  assert.equal((await get("/verify/nowhere", browser)).statusCode, 404);
  assert.equal((await get("/verify/nowhere")).statusCode, 200);
});

test("a page is sent unfilled where nothing can be found to fill it with", async () => {
  build("one");
  const get = serving({ fill: () => Promise.reject(new Error("the database is away")) });
  const page = await get("/verify/vs_1");
  assert.deepEqual([page.statusCode, page.payload.includes("given")], [200, false]);
});

test("what fills a page cannot end the element that holds it", async () => {
  build("one");
  const get = serving({ fill: async () => ({ language: "ar", data: "</script><b>$&" }) });
  const page = (await get("/verify/vs_1")).payload;
  assert.match(page, /<html lang="ar" dir="rtl">/);
  assert.ok(page.includes('id="given">"\\u003c/script>\\u003cb>$&"</script></body>'), page);
});

test("a page that the build lists names its scripts, unless it leads elsewhere; others are not filled", async () => {
  build("one");
  const lists = { "/verify/list": ["assets/list-1.js"], "/verify/$id/edit": ["assets/edit-1.js"] };
  writeFileSync(join(folder, "verify", "dist", ".vite", "pages.json"), JSON.stringify(lists));
  const get = serving({
    fillsListedPages: true,
    head: "<meta added>",
    fill: async ({ url }) => ({ language: "en", data: 1, leadsElsewhere: url.includes("?away") }),
  });
  for (const [path, script] of [
    ["/verify/list", "list-1.js"],
    ["/verify/list/?x=/verify", "list-1.js"],
    ["/verify/vs_1/edit", "edit-1.js"],
  ] as const) {
    const page = (await get(path)).payload;
    assert.match(
      page,
      new RegExp(`<link rel="modulepreload" href="/verify/assets/${script}" crossorigin />`),
      path,
    );
    assert.match(page, /<meta added><link.*<\/head>.*id="given">1</s);
  }
  const away = (await get("/verify/list?away")).payload;
  assert.deepEqual([away.includes("modulepreload"), away.includes('id="given">1<')], [false, true]);
  for (const path of ["/verify/other", "/verify/vs_1/edit/more", "/verify/vs_1"])
    assert.ok(!(await get(path)).payload.includes("given"), path);
});

test("assets have their type, are kept for ever and come as the build packed them; a worker has a policy", async () => {
  build("one");
  const assets = join(folder, "verify", "dist", "assets");
  const script = `const text = "${"x".repeat(2000)}";`;
  for (const [name, content] of [
    ["style-1.css", "a{}"],
    ["odd-1.xyz", "odd"],
    ["packed-1.js", script],
    ["packed-1.js.br", "packed by the build"],
    ["face-worker-1.js", "1"],
    ["mrz-worker-1.js", "1"],
    ["worker-1.json", "1"],
  ] as const)
    writeFileSync(join(assets, name), content);
  const get = serving({});
  const asset = async (name: string) =>
    (await get(`/verify/assets/${name}`, { "accept-encoding": "br" })).headers;
  assert.equal((await asset("style-1.css"))["content-type"], "text/css; charset=utf-8");
  assert.equal((await asset("odd-1.xyz"))["content-type"], "application/octet-stream");
  assert.equal((await asset("style-1.css"))["cache-control"], "public, max-age=31536000, immutable");
  const packed = await get("/verify/assets/packed-1.js", { "accept-encoding": "br" });
  assert.equal(packed.payload, "packed by the build");
  assert.match(String((await asset("face-worker-1.js"))["content-security-policy"]), /connect-src 'self'/);
  assert.doesNotMatch(String((await asset("mrz-worker-1.js"))["content-security-policy"]), /connect-src/);
  for (const name of ["packed-1.js", "worker-1.json"])
    assert.equal((await asset(name))["content-security-policy"], undefined, name);
});
