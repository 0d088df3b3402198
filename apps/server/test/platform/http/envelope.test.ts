import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request as httpRequest } from "node:http";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import pg from "pg";
import { createKey, createPartner, expectData, expectError, signUp, signUpOwner } from "../../support/api.ts";
import { expectRefusal, openConnection, sendRaw } from "../../support/raw-http.ts";
import { startTestService } from "../../support/service.ts";

const { api, url, databaseUrl, logLines } = await startTestService();
const listRoute = "/v1/auth/api-keys";

test("401, 403, 404, 400 and 500 on a list route carry envelope and pagination", async () => {
  const owner = await signUpOwner(api);
  const page = { limit: 10, has_more: false, next_cursor: null };

  const unauthorized = await api.get(listRoute);
  expectError(unauthorized, 401, "UNAUTHORIZED");
  assert.deepEqual(unauthorized.body.pagination, page);

  const forbidden = await (await createKey(owner, [])).api.get(listRoute);
  expectError(forbidden, 403, "API_KEY_NOT_ALLOWED");
  assert.deepEqual(forbidden.body.pagination, page);

  const badLimit = await owner.api.get(listRoute, { limit: 101 });
  expectError(badLimit, 400, "BAD_REQUEST", /`limit` must be at most 100/);
  assert.deepEqual(badLimit.body.pagination, page);

  const badCursor = await owner.api.get(listRoute, { limit: 7, starting_after: "nonsense" });
  expectError(badCursor, 400, "BAD_REQUEST", /`starting_after`/);
  assert.deepEqual(badCursor.body.pagination, { ...page, limit: 7 });

  const noSuchCursor = await owner.api.get(listRoute, {
    starting_after: "0b8f6f0e-6f0b-4c55-9d5b-0d6f8f7f3c11",
  });
  expectError(noSuchCursor, 400, "INVALID_REQUEST", /`starting_after`/);
  assert.deepEqual(noSuchCursor.body.pagination, page);

  const unknownParameter = await owner.api.get(listRoute, { colour: "red" });
  expectError(unknownParameter, 400, "BAD_REQUEST", /`colour` is not a parameter/);
  assert.deepEqual(unknownParameter.body.pagination, page);
});

test("an internal failure is a 500 without details, and its log line has the request id and no values", async () => {
  const owner = await signUpOwner(api);
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  await admin.query("alter table api_keys rename to api_keys_away");
  try {
    const answer = await owner.api.get(listRoute);
    expectError(answer, 500, "INTERNAL_SERVER_ERROR");
    assert.deepEqual(answer.body.pagination, { limit: 10, has_more: false, next_cursor: null });
    const line = logLines.find((entry) => entry.includes(answer.headers.get("x-request-id") ?? "none"));
    assert.match(line ?? "", /"sqlState":"42P01"/);
  } finally {
    await admin.query("alter table api_keys_away rename to api_keys");
    await admin.end();
  }
});

test("unknown routes are 404 in the envelope, whatever is sent to them", async () => {
  for (const [method, path] of [
    ["GET", "/v1/nothing"],
    ["POST", "/v1/"],
    ["DELETE", "/v1/auth/api-keys/a/b"],
  ] as const) {
    expectError(await api.call(method, path), 404, "NOT_FOUND");
  }
  const headers = { "content-type": "text/plain" };
  expectError(await api.call("POST", "/v1/nothing", { raw: "x", headers }), 404, "NOT_FOUND");
});

test("broken bodies are refused and named", async () => {
  const owner = await signUpOwner(api);
  const send = (raw: string | Uint8Array, type = "application/json") =>
    owner.api.call("POST", "/v1/auth/api-keys", { raw, headers: { "content-type": type } });
  expectError(await send("{"), 400, "BAD_REQUEST", /^The body is not valid JSON: it ends too early\.$/);
  expectError(
    await send('{\n "a": x}'),
    400,
    "BAD_REQUEST",
    /^The body is not valid JSON: line 2, column 7\.$/,
  );
  for (const name of ["__proto__", "\\u005f_proto__", "__\\u0070roto__"])
    expectError(await send(`{"a": [{"${name}": {"name": "x"}}]}`), 400, "BAD_REQUEST", /^`__proto__` is not/);
  expectError(await send(new Uint8Array([0x22, 0xff, 0x22])), 400, "BAD_REQUEST", /not valid UTF-8/);
  expectError(await send("[]"), 400, "BAD_REQUEST", /The body must be an object/);
  expectError(await send("null"), 400, "BAD_REQUEST");
  expectError(await send(""), 400, "BAD_REQUEST");
  expectError(await send("name=x", "application/x-www-form-urlencoded"), 400, "BAD_REQUEST", /must be JSON/);
  expectError(await send("{}", "text/plain"), 400, "BAD_REQUEST", /must be JSON/);
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const compressed = await owner.api.call("POST", "/v1/auth/api-keys", { raw: gzipSync("{}"), headers });
  expectError(compressed, 400, "BAD_REQUEST", /must not be compressed/);
});

test("a body over 64 KiB is 413, and a caller without credentials cannot send one", async () => {
  const owner = await signUpOwner(api);
  const raw = JSON.stringify({ name: "x".repeat(64 * 1024), scopes: [] });
  const headers = { "content-type": "application/json" };
  expectError(await owner.api.call("POST", "/v1/auth/api-keys", { raw, headers }), 413, "PAYLOAD_TOO_LARGE");
  expectError(await api.call("POST", "/v1/auth/api-keys", { raw, headers }), 401, "UNAUTHORIZED");
  const chunked = await new Promise<number>((resolve, reject) => {
    const outgoing = httpRequest(
      `${url}/v1/auth/api-keys`,
      { method: "POST", headers: { ...headers, authorization: `Bearer ${owner.token}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    outgoing.on("error", reject);
    for (let i = 0; i < 20; i++) outgoing.write("x".repeat(64 * 1024));
    outgoing.end();
  });
  assert.equal(chunked, 413);
});

test("what the HTTP parser refuses is in the envelope, and the connection ends with it", async () => {
  const post = "POST /v1/auth/sign-in/email HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  for (const request of [
    "NONSENSE\r\n\r\n",
    "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nX-Name: a\0b\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
    `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
  ]) {
    const answer = await sendRaw(url, request);
    expectRefusal(answer, 400, "BAD_REQUEST");
    assert.equal(answer.headers.get("connection"), "close");
  }
  // More than fits into any buffer on the way: the answer must not be lost with what was not read.
  const many = Array.from({ length: 60_000 }, (_, index) => `X-Header-${index}: ${"x".repeat(50)}\r\n`);
  const large = await sendRaw(url, `GET / HTTP/1.1\r\nHost: x\r\n${many.join("")}\r\n`);
  expectRefusal(large, 431, "REQUEST_HEADERS_TOO_LARGE");
  const line = logLines.find((entry) => entry.includes(large.headers.get("x-request-id") ?? "none"));
  assert.match(line ?? "", /"level":"info".*HPE_HEADER_OVERFLOW/);
  assert.equal((await api.get("/healthz")).status, 200);
});

test("a client that goes away in the middle of its request is no error of the service", async () => {
  const before = logLines.length;
  for (const length of ["Content-Length: 1000", "Transfer-Encoding: chunked"]) {
    const socket = openConnection(url);
    const post = "POST /v1/auth/password/forgot HTTP/1.1\r\nHost: x\r\nContent-Type: application/json";
    socket.write(`${post}\r\n${length}\r\n\r\n5\r\n{"ema`, () =>
      setTimeout(200).then(() => socket.destroy()),
    );
    await once(socket, "close");
  }
  expectError(await api.post("/v1/auth/password/forgot", {}), 400, "BAD_REQUEST");
  assert.deepEqual(
    logLines.slice(before).filter((line) => !line.includes('"level":"info"')),
    [],
  );
});

test("a request without Host, or with an unknown expectation, gets an answer in the envelope", async () => {
  expectRefusal(
    await sendRaw(url, "GET /v1/sessions HTTP/1.1\r\nConnection: close\r\n\r\n"),
    400,
    "BAD_REQUEST",
  );
  const expecting = "GET /v1/sessions HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n";
  expectRefusal(await sendRaw(url, expecting), 401, "UNAUTHORIZED");
});

test("a path that cannot be decoded or is very long is refused like any other request", async () => {
  const owner = await signUpOwner(api);
  for (const name of ["%zz", "%ff", "%ED%A0%80"]) {
    const request = `GET /v1/webhooks/endpoints/${name}/keys?limit=7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = await sendRaw(url, request);
    expectRefusal(answer, 400, "BAD_REQUEST");
    assert.deepEqual(JSON.parse(answer.body).pagination, { limit: 7, has_more: false, next_cursor: null });
  }
  expectRefusal(
    await sendRaw(url, "GET /v1/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
    400,
    "BAD_REQUEST",
  );
  const long = await owner.api.get(`/v1/sessions/${"a".repeat(12_000)}`);
  expectError(long, 400, "INVALID_SESSION_ID");
  assert.equal(long.headers.get("x-frame-options"), "DENY");
  expectError(await api.get(`/v1/sessions/${"a".repeat(12_000)}`), 401, "UNAUTHORIZED");
  const list = await owner.api.get(`/v1/webhooks/endpoints/${"a".repeat(1100)}/keys`);
  assert.ok(list.body.error !== null && list.body.pagination?.limit === 10, list.text);
});

test("a path that leads out of its folder finds nothing", async () => {
  assert.equal(
    (await sendRaw(url, "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).status,
    404,
  );
  assert.equal((await api.get("/docs/..%2f..%2fpackage")).status, 404);
});

test("every answer carries a request id, and a well-formed one of the caller's is kept", async () => {
  const given = await api.call("GET", "/v1/nothing", { headers: { "x-request-id": "trace-12345678" } });
  assert.equal(given.headers.get("x-request-id"), "trace-12345678");
  const forged = await api.call("GET", "/v1/nothing", { headers: { "x-request-id": 'x" level="error' } });
  assert.match(forged.headers.get("x-request-id") ?? "", /^req_[0-9a-f]{24}$/);
});

test("security headers are on every answer", async () => {
  for (const path of ["/v1/nothing", "/healthz", "/", "/docs/errors", "/reference", "/openapi"]) {
    const { headers } = await api.get(path);
    assert.equal(headers.get("x-content-type-options"), "nosniff", path);
    assert.equal(headers.get("x-frame-options"), "DENY", path);
    assert.equal(headers.get("referrer-policy"), "no-referrer", path);
    assert.match(
      headers.get("content-security-policy") ?? "",
      /default-src 'none'.*frame-ancestors 'none'/,
      path,
    );
  }
  assert.equal((await api.get("/v1/nothing")).headers.get("cache-control"), "no-store");
});

test("workers of the verify page have their script's policy: the face's that of the page, the line reader's one without a network", async () => {
  const page = await api.get("/verify/vs_anything");
  const assets = new URL("../../../../verify/dist/assets/", import.meta.url);
  const workers = readdirSync(assets).filter((name) => /worker.*\.js$/.test(name));
  assert.equal(workers.length, 2);
  const policyOf = async (lines: boolean) => {
    const name = workers.find((worker) => worker.startsWith("mrz-worker") === lines);
    return (await api.get(`/verify/assets/${name}`)).headers.get("content-security-policy");
  };
  assert.match(
    (await policyOf(true)) ?? "",
    /^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'(?!.*connect-src)/,
  );
  const policy = await policyOf(false);
  assert.equal(policy, page.headers.get("content-security-policy"));
  assert.match(
    policy ?? "",
    /default-src 'none'; script-src 'self' 'wasm-unsafe-eval';.* connect-src 'self';/,
  );
});

test("malformed credentials are 401, whatever their form", async () => {
  for (const authorization of [
    "Bearer",
    "Bearer ",
    "Basic abc",
    "Bearer kk_",
    `Bearer kk_${"x".repeat(5000)}`,
    "Bearer a b",
    "kk_x",
    "Bearer \u00e4",
  ]) {
    expectError(await api.call("GET", listRoute, { headers: { authorization } }), 401, "UNAUTHORIZED");
  }
});

test("a user with no organization is asked to choose one", async () => {
  const user = await signUp(api);
  expectError(await user.api.get(listRoute), 400, "ORGANIZATION_REQUIRED");
});

test("no log line holds a credential, a body, a path with an id or a query string", async () => {
  const partner = await createPartner(api);
  await partner.owner.api.get(listRoute, { limit: 3 });
  await partner.owner.api.patch(`/v1/auth/api-keys/${partner.key.id}`, { name: "canary-name" });
  await api.post("/v1/auth/sign-in/email", { email: partner.owner.email, password: "canary-password" });
  const all = logLines.join("");
  for (const secret of [
    partner.key.secret,
    partner.owner.token,
    "canary-name",
    "canary-password",
    partner.owner.email,
    partner.key.id,
    "limit=3",
  ]) {
    assert.ok(!all.includes(secret), `a log line holds ${secret}`);
  }
});

test("the cookie authenticates reads from anywhere and writes from our own pages only", async () => {
  const owner = await signUpOwner(api);
  const signIn = await api.post("/v1/auth/sign-in/email", { email: owner.email, password: owner.password });
  const cookie = signIn.headers.get("set-cookie") ?? "";
  assert.match(cookie, /HttpOnly; SameSite=Lax/);
  const token = cookie.split(";")[0] ?? "";
  const write = (headers: Record<string, string>) =>
    api.call("POST", "/v1/auth/api-keys", {
      body: { name: "x", scopes: [] },
      headers: { cookie: token, ...headers },
    });
  expectData(await api.call("GET", listRoute, { headers: { cookie: token } }));
  assert.equal((await write({ origin: url })).status, 201);
  expectError(await write({ origin: "https://evil.example" }), 403, "FOREIGN_ORIGIN", /own pages/);
  expectError(await write({ origin: "null" }), 403, "FOREIGN_ORIGIN");
  expectError(await write({ "sec-fetch-site": "cross-site" }), 403, "FOREIGN_ORIGIN");
});
