import assert from "node:assert/strict";
import test from "node:test";
import { routes } from "@assay/contract/routes";
import { createPartner, expectData, expectError } from "../../support/api.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { startTestService } from "../../support/service.ts";

const { api, url } = await startTestService();
const partner = await createPartner(api);
const pages = [
  "/",
  "/docs",
  "/docs/errors",
  "/openapi",
  "/asyncapi",
  "/reference",
  "/reference/sessions",
  "/assets/pages.js",
  "/llms.txt",
];
const others = ["/assets/pages.css", "/healthz", "/readyz", "/dashboard", "/dashboard/keys", "/verify/vs_x"];

const allMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:[a-z_]+/g, "[^/]+")}$`);
const withoutParameters = (path: string) => path.replaceAll(/:[a-z_]+/g, "x");

test("a known path with another method is 405, and `Allow` names the methods that it has", async () => {
  for (const path of new Set(routes.map((route) => withoutParameters(route.path)))) {
    // A literal in one route may be a parameter of another.
    const has = routes.filter((route) => patternOf(route.path).test(path)).map((route) => route.method);
    for (const method of allMethods.filter((method) => !has.some((known) => known === method))) {
      const body = method === "GET" ? {} : { raw: "not JSON", headers: { "content-type": "text/plain" } };
      const answer = await api.call(method, path, body);
      expectError(answer, 405, "METHOD_NOT_ALLOWED");
      const allowed = new Set([...has, "OPTIONS", ...(has.includes("GET") ? ["HEAD"] : [])]);
      assert.equal(answer.headers.get("allow"), [...allowed].sort().join(", "), path);
    }
  }
  expectError(await api.call("PUT", "/v1/sessions"), 405, "METHOD_NOT_ALLOWED");
  assert.equal((await api.call("DELETE", "/v1/sessions")).headers.get("allow"), "GET, HEAD, OPTIONS, POST");
  for (const path of [...pages, ...others]) {
    const answer = await api.call("POST", path);
    assert.equal(`${answer.status} ${answer.headers.get("allow")}`, "405 GET, HEAD, OPTIONS", path);
  }
  const traced = await sendRaw(url, "TRACE /v1/sessions HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  assert.equal(`${traced.status} ${traced.headers.get("allow")}`, "405 GET, HEAD, OPTIONS, POST");
});

test("OPTIONS is 204 with the methods of a known path, needs no credential, and grants another origin nothing", async () => {
  for (const [path, allow] of [
    ["/v1/sessions", "GET, HEAD, OPTIONS, POST"],
    ["/v1/auth/sign-in/email", "OPTIONS, POST"],
    ["/docs", "GET, HEAD, OPTIONS"],
  ] as const) {
    const headers = { origin: "https://elsewhere.test", "access-control-request-method": "POST" };
    const answer = await api.call("OPTIONS", path, { headers });
    assert.equal(`${answer.status} ${answer.headers.get("allow")}`, `204 ${allow}`, path);
    assert.equal(answer.text, "", path);
    assert.equal(answer.headers.get("access-control-allow-origin"), null, path);
    assert.ok(answer.headers.get("x-request-id"), path);
    const withBody = await api.call("OPTIONS", path, { raw: "x", headers: { "content-type": "text/plain" } });
    assert.equal(withBody.status, 204, path);
  }
  expectError(await api.call("OPTIONS", "/v1/nothing"), 404, "NOT_FOUND");
});

test("a JSON body in a charset other than UTF-8 is refused in words", async () => {
  const send = (type: string) =>
    partner.api.call("POST", "/v1/sessions", { raw: "{}", headers: { "content-type": type } });
  for (const charset of ["utf-8", "UTF8", '"utf-8"', "us-ascii"])
    assert.equal((await send(`application/json; charset=${charset}`)).status, 201, charset);
  for (const charset of ["iso-8859-1", "utf-16", '"windows-1252"'])
    expectError(
      await send(`application/json;charset=${charset}`),
      400,
      "BAD_REQUEST",
      /`Content-Type` names a charset other than UTF-8/,
    );
});

test("HEAD answers as GET, with the length and without the body", async () => {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  for (const path of [...pages, ...others, "/v1/sessions", `/v1/sessions/${session.id}`, "/v1/sessions/x"]) {
    // As undici would ask otherwise, for what may come compressed.
    const headers = { "accept-encoding": "identity" };
    const [got, asked] = [
      await partner.api.call("GET", path, { headers }),
      await fetch(url + path, {
        method: "HEAD",
        headers: { ...headers, authorization: `Bearer ${partner.key.secret}` },
      }),
    ];
    assert.equal(asked.status, got.status, path);
    assert.equal(await asked.text(), "", path);
    assert.equal(asked.headers.get("content-type"), got.headers.get("content-type"), path);
    assert.equal(asked.headers.get("content-length"), String(Buffer.byteLength(got.text)), path);
  }
  const unknown = await fetch(`${url}/v1/sessions`, { method: "HEAD" });
  assert.equal(unknown.status, 401);
  const posted = await fetch(`${url}/v1/auth/sign-in/email`, { method: "HEAD" });
  assert.equal(`${posted.status} ${posted.headers.get("allow")}`, "405 OPTIONS, POST");
});

test("HEAD of an event stream ends, and leaves nothing open", async () => {
  const session = expectData(await partner.api.post("/v1/sessions", {}), 201);
  const answer = await fetch(`${url}/v1/verify/session/${session.id}/events`, { method: "HEAD" });
  assert.equal(answer.status, 200);
  assert.equal(await answer.text(), "");
});

test("one slash at the end of a path is ignored", async () => {
  for (const path of [...pages.slice(1), ...others, "/v1/sessions"])
    assert.equal((await partner.api.get(`${path}/`)).status, 200, path);
  expectData(await partner.api.get("/v1/sessions/?limit=1"));
  const headers = { "idempotency-key": "slash" };
  const first = expectData(await partner.api.post("/v1/sessions", {}, headers), 201);
  const again = await partner.api.post("/v1/sessions/", {}, headers);
  assert.equal(expectData(again, 201).id, first.id);
  assert.equal((await api.get("/docs//")).status, 404);
});
