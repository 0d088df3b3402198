import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { routes } from "@assay/contract/routes";
import { documentNames } from "../../../src/platform/pages/documents.ts";
import { doors, movedPages, sections } from "../../../src/platform/pages/site.ts";
import { startTestService } from "../../support/service.ts";

const { url } = await startTestService();
const docs = new URL("../../../../../docs/", import.meta.url);
/** Not compressed, which would take longer than all else here. */
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(url + path, { headers: { "accept-encoding": "identity", ...headers } });
const pageAt = async (path: string) => {
  const answer = await get(path, { accept: "text/html,application/xhtml+xml" });
  return { status: answer.status, text: await answer.text() };
};

test("every guide has one place on the site", () => {
  const listed = sections.flatMap(({ names }) => names);
  const files = readdirSync(docs).filter((file) => file.endsWith(".md"));
  const folders = ["decisions", "runbooks"];
  assert.deepEqual([...listed].sort(), [...files.map((file) => file.slice(0, -3)), ...folders].sort());
});

test("the docs begin with a door for each kind of reader, and each leads to its section", async () => {
  const { text } = await pageAt("/docs");
  for (const { title } of doors) {
    const [, anchor] = new RegExp(`<a href="#([a-z-]+)"><strong>${title}</strong>`).exec(text) ?? [];
    assert.ok(anchor, title);
    assert.ok(text.includes(`<h2 id="${anchor}">${title}</h2>`), title);
  }
});

test("the list of guides says of each what is its own", async () => {
  const html = await (await fetch(`${url}/docs`)).text();
  const summaries = [...html.matchAll(/<\/strong><span>([^<]*)<\/span>/g)].map(([, text = ""]) => text);
  assert.ok(summaries.length > 60);
  for (const summary of summaries) assert.match(summary, /^(?!At the end of this page)[A-Z`].{15}/);
});

test("a page that has moved leads to where it is now, also as text", async () => {
  assert.ok(movedPages.size > 0);
  for (const [from, to] of movedPages) {
    assert.ok(!documentNames().includes(from), from);
    for (const ending of ["", ".md"]) {
      const answer = await fetch(`${url}/docs/${from}${ending}`, { redirect: "manual" });
      assert.equal(answer.status, 301, from);
      assert.equal(answer.headers.get("location"), `/docs/${to}${ending}`);
      assert.equal((await get(`/docs/${to}${ending}`)).status, 200, to);
    }
  }
  assert.equal((await fetch(`${url}/docs/constructor`)).status, 404);
});

test("every page is there as text too, as it stands in the repository", async () => {
  for (const name of documentNames()) {
    const answer = await get(`/docs/${name}.md`);
    assert.equal(answer.status, 200, name);
    assert.equal(answer.headers.get("content-type"), "text/markdown; charset=utf-8");
    const file = ["decisions", "runbooks"].includes(name) ? `${name}/README.md` : `${name}.md`;
    assert.equal(await answer.text(), readFileSync(new URL(file, docs), "utf8"), name);
  }
});

test("the reference is there as text too, with every operation, by its address or by Accept", async () => {
  const index = await (await get("/reference.md")).text();
  for (const { path, method } of routes)
    assert.ok(index.includes(`\`${method} ${path.replaceAll(/:([a-z_]+)/g, "{$1}")}\``), `${method} ${path}`);
  const sessions = await (await get("/reference/sessions.md")).text();
  for (const part of [
    "## Create a verification session",
    "`POST /v1/sessions`",
    "`client_reference_id`",
    "UNKNOWN_CLAIM_KEY",
  ])
    assert.ok(sessions.includes(part), part);
  assert.ok(!/<[a-z]+[ >]/.test(sessions.replaceAll(/`[^`]*`/g, "")), "no HTML");
  for (const path of ["/docs", "/docs/sessions", "/reference", "/reference/sessions", "/reference/schemas"]) {
    const asked = await get(path, { accept: "text/markdown" });
    assert.equal(asked.headers.get("content-type"), "text/markdown; charset=utf-8", path);
    assert.match(asked.headers.get("vary") ?? "", /^accept,/, path);
    assert.equal(await asked.text(), await (await get(`${path}.md`)).text(), path);
    const browser = await get(path, { accept: "text/html, text/markdown;q=0.5" });
    assert.equal(browser.headers.get("content-type"), "text/html; charset=utf-8", path);
  }
  for (const path of ["/reference/nothing", "/reference/nothing.md", "/docs/nothing.md"])
    assert.equal((await get(path)).status, 404, path);
});

test("/openapi.json is /openapi", async () => {
  const [one, other] = [await get("/openapi"), await get("/openapi.json")];
  assert.equal(await one.text(), await other.text());
});

test("/llms.txt says where the service is and how to get a key, before it lists anything", async () => {
  const text = await (await get("/llms.txt")).text();
  const [beginning = ""] = text.split("\n## ");
  for (const part of [`The base address is ${url},`, "/v1/auth/api-keys", "/docs/agents.md", "`/mcp`"])
    assert.ok(beginning.includes(part), part);
});

test("/llms.txt lists every guide as text, and every address in it answers", async () => {
  const text = await (await get("/llms.txt")).text();
  const addresses = [...text.matchAll(/\]\((\/[^)]+)\)/g)].map((match) => match[1] ?? "");
  for (const { names } of sections)
    for (const name of names) assert.ok(addresses.includes(`/docs/${name}.md`), name);
  for (const address of addresses) assert.equal((await get(address)).status, 200, address);
});

test("every link and every anchor of guides and reference leads somewhere", async () => {
  const start = ["/", "/docs", "/reference", ...documentNames().map((name) => `/docs/${name}`)];
  const pages = new Map<string, string>();
  const waiting = [...start];
  const broken: string[] = [];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (pages.has(path)) continue;
    const { status, text } = await pageAt(path);
    pages.set(path, text);
    if (status !== 200) broken.push(path);
    for (const [, target = ""] of text.matchAll(/href="(\/(?:docs|reference)[^"#]*)/g)) waiting.push(target);
  }
  const idsOf = new Map(
    [...pages].map(([path, text]) => [
      path,
      new Set([...text.matchAll(/id="([^"]+)"/g)].map(([, id]) => id)),
    ]),
  );
  for (const [from, text] of pages)
    for (const [, path = "", anchor = ""] of text.matchAll(/href="(\/(?:docs|reference)[^"#]*)?#([^"]+)"/g))
      if (idsOf.get(path === "" ? from : path)?.has(anchor) !== true)
        broken.push(`${from} → ${path}#${anchor}`);
  assert.deepEqual([...new Set(broken)], []);
});

test("the reference shows every route, with its samples and its errors", async () => {
  const { text: index } = await pageAt("/reference");
  const names = [...index.matchAll(/href="\/reference\/([a-z-]+)"/g)].map((match) => match[1] ?? "");
  const all = (await Promise.all([...new Set(names)].map((name) => pageAt(`/reference/${name}`))))
    .map(({ text }) => text)
    .join("");
  for (const { id } of routes) {
    assert.ok(index.includes(`#${id}"`), id);
    assert.ok(all.includes(`<h2 id="${id}">`), id);
  }
});

test("a browser that asks for a page that is not there gets a page, a program the envelope", async () => {
  for (const path of [
    "/docs/nothing",
    "/docs/decisions/9999-nothing",
    "/docs/..%2fREADME",
    "/reference/nothing",
  ]) {
    const page = await pageAt(path);
    assert.equal(page.status, 404, path);
    assert.match(page.text, /<h1>Page not found<\/h1>/);
    const answer = await get(path);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, "NOT_FOUND");
  }
});
