import assert from "node:assert/strict";
import test from "node:test";
import { pageLanguages } from "@assay/contract/facts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService({ role: "api" });

/** As browsers send it for an address that a user opens. */
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const sessionId = `vs_${"0".repeat(64)}`;
const wrongPaths = ["/nope", "/deep/nope", "/v1/nope", "/app", "/dashboard/assets/nope.js"];
const wrongLinks = [
  "/verify",
  "/verify/",
  "/verify/vs_short",
  `/verify/${sessionId}x`,
  "/verify/preview/more",
];

const open = (path: string, headers: Record<string, string>, method = "GET") =>
  fetch(url + path, { method, headers });

test("a browser that opens a wrong address gets a page with status 404 and a way home", async () => {
  for (const path of [...wrongPaths, ...wrongLinks])
    for (const method of ["GET", "HEAD"]) {
      const answer = await open(path, { accept: browser }, method);
      const what = `${method} ${path}`;
      assert.equal(answer.status, 404, what);
      assert.equal(answer.headers.get("content-type"), "text/html; charset=utf-8", what);
      assert.equal(answer.headers.get("cache-control"), "no-store", what);
      assert.match(answer.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/, what);
      const html = await answer.text();
      if (method === "HEAD") assert.equal(html, "");
      else assert.match(html, /<h1>Page not found<\/h1>[\s\S]*<a class="action main" href="\/">/, what);
    }
});

test("the page is in the language of the browser, each of those that people are verified in", async () => {
  const titles = new Set<string>();
  for (const language of pageLanguages) {
    const answer = await open("/nope", { accept: browser, "accept-language": `xx,${language};q=0.9` });
    const html = await answer.text();
    assert.match(html, new RegExp(`<html lang="${language}" dir="${language === "ar" ? "rtl" : "ltr"}">`));
    titles.add(/<h1>(.*)<\/h1>/.exec(html)?.[1] ?? "");
  }
  assert.equal(titles.size, pageLanguages.length, "each in words of its own");
  const other = await open("/nope", { accept: browser, "accept-language": "ja" });
  assert.match(await other.text(), /<html lang="en"/);
});

test("a program gets the envelope, whatever it says that it takes besides", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5", "text/plain"])
    for (const path of wrongPaths) {
      const answer = await open(path, { accept });
      assert.equal(answer.status, 404, path);
      const { error } = (await answer.json()) as { error: { code: string } };
      assert.equal(error.code, "NOT_FOUND", path);
    }
  const posted = await open("/nope", { accept: browser }, "POST");
  assert.match(posted.headers.get("content-type") ?? "", /json/);
  // An existing route answers with the envelope, even to a browser.
  const route = await api.call("GET", `/v1/verify/session/${sessionId}/status`, {
    headers: { accept: browser },
  });
  assert.match(route.headers.get("content-type") ?? "", /json/);
});

test("links to verifications and the app are opened as before", async () => {
  for (const path of [
    `/verify/${sessionId}`,
    `/verify/${sessionId}/complete`,
    "/verify/preview",
    "/dashboard/nope",
  ]) {
    const answer = await open(path, { accept: browser });
    assert.equal(answer.status, 200, path);
    assert.match(await answer.text(), /<script type="module"/, path);
  }
});

test("every link of the start page leads a browser to a page, and to nothing else but the API's document", async () => {
  const html = await (await open("/", { accept: browser })).text();
  const paths = new Set([...html.matchAll(/<a [^>]*href="(\/[^"#]*)"/g)].map(([, path = ""]) => path));
  assert.ok(paths.size > 5);
  for (const path of paths) {
    const answer = await open(path, { accept: browser });
    const expected = path === "/openapi" ? /^application\/json/ : /^text\/html/;
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("content-type") ?? "", expected, path);
  }
});
