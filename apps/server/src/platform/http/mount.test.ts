import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import test from "node:test";
import { type RouteDefinition, routesOf } from "@assay/contract/route";
import { closed, Nullable } from "@assay/contract/schema";
import { Type } from "typebox";
import { until } from "../../../test/support/until.ts";
import { ApiError } from "../kernel/api-error.ts";
import type { KeyCaller, Membership, UserCaller } from "../kernel/caller.ts";
import { systemClock } from "../kernel/clock.ts";
import { knownId } from "../kernel/ids.ts";
import { createLog } from "../lib/log.ts";
import { Metrics } from "../lib/metrics.ts";
import { Admission } from "./admission.ts";
import { AlternateStatus, type Binding, bind, mount } from "./mount.ts";
import { createServer } from "./server.ts";

const membership: Membership = {
  organizationId: knownId("acme"),
  role: "admin",
  liveIsOpen: true,
  frozen: false,
};
const user: UserCaller = {
  kind: "user",
  userId: knownId("ann"),
  userSessionId: knownId("session"),
  name: "Ann",
  email: "ann@example.com",
  foldedEmail: null,
  membership,
};
const key: KeyCaller = {
  kind: "key",
  keyId: knownId("key"),
  organizationId: knownId("acme"),
  scopes: ["sessions:read", "sessions:write"],
  environment: "sandbox",
  frozen: false,
  agentsMayChangeWebhooks: false,
};
const publicUrl = "https://id.example.com";

/** A server with these routes. Valid credentials: the key `kk_good`, the token `good` and its cookie. */
function serving(...bindings: Binding[]) {
  const logLines: string[] = [];
  const used: string[] = [];
  const log = createLog({ level: "debug", write: (line) => logLines.push(line), now: () => new Date(0) });
  const metrics = new Metrics();
  const admission = new Admission({
    log,
    metrics,
    clock: systemClock,
    isSecure: () => true,
    slots: 8,
    maxRequestsPerSecond: 1000,
  });
  const state = { isDraining: false, isOperator: false };
  const app = createServer({
    onAnswered: () => {},
    log,
    metrics,
    tracer: null,
    publicUrl: () => publicUrl,
    trustProxy: [],
    maxConnections: 10,
    admission,
    isDraining: () => state.isDraining,
  });
  mount(app, bindings, {
    authenticator: {
      byKey: async (secret) => (secret === "kk_good" ? key : null),
      byToken: async (token) => (token === "good" ? user : null),
      membership: async (id) => (id === "0a" ? { ...membership, organizationId: id, role: "owner" } : null),
      isOperator: async () => state.isOperator,
    },
    publicUrl: () => publicUrl,
    onKeyUsed: (id) => used.push(id),
    admission,
    idempotency: null as never,
    deprecations: {
      leaving: { since: "2027-01-01", sunset: "2028-01-01", instead: "Use `/two`." },
      old: { since: "2027-01-01", sunset: null, instead: "Use `/two`." },
    },
  });
  type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  const call = async (
    method: Method,
    url: string,
    headers: Record<string, string> = {},
    payload?: string | Buffer,
  ) => {
    const answer = await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
    const { error, ...body } = answer.payload === "" ? { error: null } : JSON.parse(answer.payload);
    return {
      status: answer.statusCode,
      headers: answer.headers,
      code: error?.code ?? null,
      message: error?.message,
      ...body,
    };
  };
  const figure = (series: string) =>
    Number(
      metrics
        .render()
        .split("\n")
        .find((line) => line.startsWith(`${series} `))
        ?.split(" ")[1],
    );
  return { app, call, used, logLines, state, figure };
}

const common = { summary: "s", errors: [] } as const;
const data = { status: 200, data: closed({ ok: Type.Boolean() }) } as const;
const define = <const R extends Omit<RouteDefinition, keyof typeof common | "tag">>(definition: R) =>
  routesOf("t")(definition, { ...common, ...definition });
const json = { "content-type": "application/json" };
const asKey = { authorization: "Bearer kk_good" };
const asUser = { authorization: "Bearer good" };
const withCookie = { cookie: "__Host-assay_session=good" };

test("every answer of a deprecated route says since when, until when and where to read about it", async () => {
  const planted = (id: string) =>
    bind(
      define({ id, method: "GET", path: `/${id}`, access: { scope: "sessions:read" }, reply: data }),
      async () => ({ ok: true }),
    );
  const { call } = serving(planted("leaving"), planted("old"), planted("current"));
  const link = '</docs/versioning#deprecation>; rel="deprecation"; type="text/html"';
  const said = async (path: string, as: Record<string, string>) => {
    const { status, headers } = await call("GET", path, as);
    return [status, headers.deprecation, headers.sunset, headers.link];
  };
  const end = "Sat, 01 Jan 2028 00:00:00 GMT";
  assert.deepEqual(await said("/leaving", asKey), [200, "@1798761600", end, link]);
  assert.deepEqual(await said("/leaving", {}), [401, "@1798761600", end, link]);
  assert.deepEqual(await said("/leaving?no=1", asKey), [400, "@1798761600", end, link]);
  assert.deepEqual(await said("/old", asKey), [200, "@1798761600", undefined, link]);
  assert.deepEqual(await said("/current", asKey), [200, undefined, undefined, undefined]);
});

test("parameters of path and query are checked, and one that the route does not have is named", async () => {
  const seen: unknown[] = [];
  const { call } = serving(
    bind(
      define({
        id: "one",
        method: "GET",
        path: "/one/:id",
        access: { public: true },
        params: closed({ id: Type.String({ maxLength: 3 }) }),
        invalidParams: "NOT_FOUND",
        query: closed({ count: Type.Optional(Type.Integer()), text: Type.Optional(Type.String()) }),
        reply: data,
      }),
      async ({ params, query }) => {
        seen.push({ ...params }, { ...query });
        return { ok: true };
      },
    ),
    bind(
      define({ id: "two", method: "GET", path: "/two", access: { public: true }, reply: data }),
      async () => ({ ok: true }),
    ),
  );
  const good = await call("GET", "/one/abc?count=2");
  assert.deepEqual([good.status, good.data, seen], [200, { ok: true }, [{ id: "abc" }, { count: 2 }]]);
  assert.equal((await call("GET", "/one/abc/")).status, 200, "a slash at the end is ignored");
  assert.equal((await call("GET", "/one/abcd")).code, "NOT_FOUND");
  assert.equal((await call("GET", "/one/abc?count=x")).code, "BAD_REQUEST");
  assert.equal((await call("GET", "/one/%00")).code, "NOT_FOUND");
  assert.equal((await call("GET", "/one/abc?text=%00")).code, "BAD_REQUEST");
  assert.equal((await call("GET", "/two?extra=1")).message, "`extra` is not a parameter of this route.");
  assert.ok((await call("GET", `/two?${"x".repeat(200)}=1`)).message.length < 130);
  assert.equal((await call("GET", "/two")).status, 200);
});

test("a route without a body takes none, an empty object, and nothing with a field", async () => {
  const { call } = serving(
    bind(
      define({ id: "a", method: "POST", path: "/a", access: { public: true }, reply: { status: 204 } }),
      async () => {},
    ),
    bind(
      define({
        id: "b",
        method: "POST",
        path: "/b",
        access: { public: true },
        body: closed({ x: Type.Optional(Type.String()) }),
        bodyOptional: true,
        reply: data,
      }),
      async ({ body }) => ({ ok: body.x === undefined }),
    ),
    bind(
      define({
        id: "c",
        method: "POST",
        path: "/c",
        access: { public: true },
        body: closed({ x: Type.String() }),
        reply: data,
      }),
      async () => ({ ok: true }),
    ),
  );
  for (const body of [undefined, "", "{}", "null"])
    assert.equal((await call("POST", "/a", json, body)).status, 204, body);
  assert.equal((await call("POST", "/a", json, '{"x":1}')).message, "`x` is not a field of this request.");
  assert.equal((await call("POST", "/a", json, "7")).message, "`body` is not a field of this request.");
  assert.deepEqual((await call("POST", "/b")).data, { ok: true });
  assert.deepEqual((await call("POST", "/b", json, '{"x":"1"}')).data, { ok: false });
  assert.deepEqual((await call("POST", "/b", json, '{"x":null}')).data, { ok: true }, "null is absent");
  assert.equal((await call("POST", "/c")).code, "BAD_REQUEST");
  assert.equal(
    (await call("POST", "/c", { "content-type": "text/plain" }, "x")).message,
    "The body must be JSON.",
  );
  const utf16 = { "content-type": "application/json; charset=utf-16" };
  assert.equal((await call("POST", "/c", utf16, '{"x":"1"}')).code, "BAD_REQUEST");
  assert.equal(
    (await call("POST", "/c", { ...json, "content-encoding": "gzip" }, '{"x":"1"}')).code,
    "BAD_REQUEST",
  );
  assert.equal(
    (await call("POST", "/c", { ...json, "content-encoding": "Identity" }, '{"x":"1"}')).status,
    200,
  );
  assert.equal(
    (await call("POST", "/c", json, `{"x":"${"a".repeat(16 * 1024)}"}`)).code,
    "PAYLOAD_TOO_LARGE",
  );
});

test("only a route that asks for a file gets one, and gets nothing else", async () => {
  const { call } = serving(
    bind(
      define({
        id: "upload",
        method: "PUT",
        path: "/file",
        access: { user: true },
        upload: ["image/png"],
        reply: data,
      }),
      async ({ body }) => ({ ok: Buffer.from(body).toString() === "bytes" }),
    ),
    bind(
      define({ id: "none", method: "POST", path: "/none", access: { user: true }, reply: data }),
      async () => ({ ok: true }),
    ),
  );
  const png = { ...asUser, "content-type": "image/png" };
  assert.deepEqual((await call("PUT", "/file", png, "bytes")).data, { ok: true });
  assert.match((await call("PUT", "/file", { ...asUser, ...json }, "{}")).message, /must be a picture/);
  assert.match((await call("PUT", "/file", asUser)).message, /must be a picture/);
  assert.match((await call("POST", "/none", png, "bytes")).message, /must be JSON/);
});

test("an answer has what the contract declares and nothing else", async () => {
  const shape = closed({
    id: Type.String(),
    name: Nullable(Type.String({ pattern: "^a$" })),
    either: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
    pattern: Type.String(),
    nested: Nullable(closed({ list: Type.Array(Nullable(Type.Integer())) })),
  });
  const whole = { id: "1", name: "a", either: 5, pattern: "p", nested: { list: [1, null] } };
  const answers: unknown[] = [];
  const { call } = serving(
    bind(
      define({
        id: "made",
        method: "POST",
        path: "/made",
        access: { public: true },
        idempotent: false,
        reply: { status: 201, data: shape, also: 200 },
      }),
      async () => answers.shift() as never,
    ),
    bind(
      define({
        id: "list",
        method: "GET",
        path: "/list",
        access: { public: true },
        reply: { status: 200, list: shape },
      }),
      async () => answers.shift() as never,
    ),
  );
  const secret = { secret: "never", nested: { list: [1, null], secret: "never" } };
  answers.push({ ...whole, ...secret });
  const made = await call("POST", "/made");
  assert.deepEqual([made.status, made.data], [201, whole]);
  const bare = { id: "1", name: null, either: null, pattern: "", nested: null };
  answers.push(new AlternateStatus(bare));
  const again = await call("POST", "/made");
  assert.deepEqual([again.status, again.data], [200, bare]);
  answers.push({ items: [{ ...whole, ...secret }], hasMore: true, nextCursor: "c" });
  const list = await call("GET", "/list");
  assert.deepEqual([list.data, list.pagination], [[whole], { limit: 10, has_more: true, next_cursor: "c" }]);
  answers.push({ items: [], hasMore: false, nextCursor: "c" });
  assert.deepEqual((await call("GET", "/list")).pagination, {
    limit: 10,
    has_more: false,
    next_cursor: null,
  });
  assert.match(String(list.headers["content-type"]), /^application\/json/);
});

test("what is raised on purpose is an answer, what nobody expected a 500 that says nothing", async () => {
  const raised: unknown[] = [];
  const { call, logLines } = serving(
    bind(
      define({
        id: "fail",
        method: "GET",
        path: "/fail",
        access: { public: true },
        reply: { status: 200, list: Type.Any() },
      }),
      async () => {
        throw raised.shift();
      },
    ),
  );
  const failing = async (error: unknown) => {
    raised.push(error);
    const lines = logLines.length;
    const answer = await call("GET", "/fail");
    return {
      ...answer,
      said: logLines
        .slice(lines)
        .filter((line) => /request (failed|refused)/.test(line))
        .join(),
    };
  };
  const conflict = await failing(new ApiError("CONFLICT", { headers: { "x-own": "1" } }));
  assert.deepEqual([conflict.status, conflict.headers["x-own"], conflict.said], [409, "1", ""]);
  assert.deepEqual(conflict.pagination, { limit: 10, has_more: false, next_cursor: null });
  const away = await failing(new ApiError("SERVICE_UNAVAILABLE"));
  assert.deepEqual([away.status, /"request refused"/.test(away.said)], [503, true]);
  const fault = await failing(new Error("secret inside"));
  assert.deepEqual(
    [fault.status, fault.code, /"request failed"/.test(fault.said)],
    [500, "INTERNAL_SERVER_ERROR", true],
  );
  assert.ok(!fault.message.includes("secret inside"));
  for (const [code, statusCode, status] of [
    ["FST_ERR_ODD", 400, 400],
    ["FST_ERR_ODD", 499, 400],
    ["FST_ERR_ODD", 500, 500],
    ["FST_ERR_ODD", 399, 500],
    ["FST_ERR_ODD", undefined, 500],
    ["OTHER", 400, 500],
    [undefined, 400, 500],
    ["FST_ERR_CTP_INVALID_CONTENT_LENGTH", 400, 400],
    ["FST_ERR_CTP_INVALID_MEDIA_TYPE", 415, 400],
  ] as const) {
    const refused = await failing(Object.assign(new Error("of the framework"), { code, statusCode }));
    assert.equal(refused.status, status, `${code} ${statusCode}`);
  }
  const lost = await failing(Object.assign(new Error("lost"), { code: "ECONNRESET", syscall: "read" }));
  assert.deepEqual([lost.status, lost.headers["retry-after"]], [503, "2"]);
});

test("a key, a token and a cookie are told apart, and a use of a key is counted", async () => {
  const who: unknown[] = [];
  const { call, used } = serving(
    bind(
      define({ id: "read", method: "GET", path: "/read", access: { scope: "sessions:read" }, reply: data }),
      async ({ caller }) => {
        who.push(caller.kind);
        return { ok: true };
      },
    ),
  );
  for (const headers of [asKey, asUser, withCookie, { authorization: "bearer good" }])
    assert.equal((await call("GET", "/read", headers)).status, 200);
  assert.deepEqual([who, used], [["key", "user", "user", "user"], ["key"]]);
  for (const headers of [
    {},
    { authorization: "Bearer kk_bad" },
    { authorization: "Bearer bad" },
    { authorization: "Basic good" },
    { authorization: "good", ...withCookie },
    { cookie: "assay_session=good" },
  ] as Record<string, string>[]) {
    const refused = await call("GET", "/read", headers);
    assert.deepEqual(
      [refused.status, refused.headers["www-authenticate"]],
      [401, "Bearer"],
      JSON.stringify(headers),
    );
  }
  assert.deepEqual(used, ["key"]);
  assert.equal((await call("GET", "/read", asUser)).headers["www-authenticate"], undefined);
});

test("with the cookie only our own pages write, and anybody reads", async () => {
  const { call } = serving(
    bind(define({ id: "r", method: "GET", path: "/x", access: { user: true }, reply: data }), async () => ({
      ok: true,
    })),
    bind(define({ id: "w", method: "POST", path: "/x", access: { user: true }, reply: data }), async () => ({
      ok: true,
    })),
  );
  const write = async (headers: Record<string, string>) =>
    (await call("POST", "/x", { ...withCookie, ...headers })).code;
  assert.equal(await write({}), null);
  assert.equal(await write({ origin: publicUrl }), null);
  for (const site of ["same-origin", "none"])
    assert.equal(await write({ "sec-fetch-site": site }), null, site);
  for (const site of ["cross-site", "same-site"])
    assert.equal(await write({ "sec-fetch-site": site }), "FOREIGN_ORIGIN");
  assert.equal(await write({ origin: "https://evil.example" }), "FOREIGN_ORIGIN");
  assert.equal(
    await write({ origin: "https://evil.example", "sec-fetch-site": "same-origin" }),
    "FOREIGN_ORIGIN",
  );
  assert.equal((await call("GET", "/x", { ...withCookie, origin: "https://evil.example" })).status, 200);
  assert.equal((await call("POST", "/x", { ...asUser, origin: "https://evil.example" })).status, 200);
  const unknown = { cookie: "__Host-assay_session=bad", origin: "https://evil.example" };
  assert.equal((await call("POST", "/x", unknown)).code, "UNAUTHORIZED");
});

test("an operator's route is there for operators alone, and an organization is the one in the body", async () => {
  const { call, state } = serving(
    bind(
      define({ id: "o", method: "GET", path: "/o", access: { operator: true }, reply: data }),
      async () => ({ ok: true }),
    ),
    bind(
      define({
        id: "b",
        method: "POST",
        path: "/b",
        access: { role: "owner", organization: "body" },
        body: closed({ organizationId: Type.String() }),
        reply: data,
      }),
      async ({ caller }) => ({ ok: caller.organizationId === "0a" && caller.role === "owner" }),
    ),
  );
  assert.equal((await call("GET", "/o", asUser)).code, "NOT_FOUND");
  state.isOperator = true;
  assert.equal((await call("GET", "/o", asUser)).status, 200);
  for (const headers of [{}, asKey]) {
    const refused = await call("GET", "/o", headers);
    assert.deepEqual([refused.code, refused.headers["www-authenticate"]], ["NOT_FOUND", undefined]);
  }
  const of = (id: string) =>
    call("POST", "/b", { ...asUser, ...json }, JSON.stringify({ organizationId: id }));
  assert.deepEqual((await of("0A")).data, { ok: true }, "ids are the same in either case");
  assert.equal((await of("0b")).code, "NOT_FOUND");
});

test("guard and preparation come before the handler, in this order, and what is prepared is handed on", async () => {
  const order: string[] = [];
  const { call } = serving(
    bind(
      define({ id: "g", method: "POST", path: "/g", access: { public: true }, reply: data }),
      {
        guard: async () => {
          order.push("guard");
        },
        prepare: async () => {
          order.push("prepare");
          return "prepared";
        },
      },
      async ({ request }, prepared) => {
        order.push(prepared);
        order.push(
          String(request.language),
          request.userAgent.slice(0, 3),
          String(request.userAgent.length),
          String(request.bearer),
        );
        request.setSessionCookie(null);
        return { ok: true };
      },
    ),
  );
  const answer = await call("POST", "/g", {
    "accept-language": "de-AT",
    "user-agent": "abc".repeat(200),
    authorization: "Bearer x",
  });
  assert.deepEqual(order, ["guard", "prepare", "prepared", "de", "abc", "300", "x"]);
  assert.match(String(answer.headers["set-cookie"]), /^__Host-assay_session=; .*Max-Age=0/);
});

test("a picture comes with its type and the time that it may be kept", async () => {
  const { app } = serving(
    bind(
      define({
        id: "p",
        method: "GET",
        path: "/p",
        access: { public: true },
        reply: { status: 200, picture: ["image/png"], maxAgeSeconds: 60 },
      }),
      async () => ({ contentType: "image/png" as const, bytes: Buffer.from("picture") }),
    ),
  );
  const { headers, payload } = await app.inject("/p");
  assert.deepEqual(
    [headers["content-type"], headers["cache-control"], payload],
    ["image/png", "private, max-age=60", "picture"],
  );
});

test("a path has its methods, and an answer of a process that drains ends the connection", async () => {
  const { call, state } = serving(
    bind(
      define({ id: "r", method: "GET", path: "/x/:id", access: { public: true }, reply: data }),
      async () => ({ ok: true }),
    ),
    bind(
      define({ id: "w", method: "DELETE", path: "/x/:id", access: { public: true }, reply: data }),
      async () => ({ ok: true }),
    ),
    bind(
      define({ id: "p", method: "PUT", path: "/x/:id", access: { public: true }, reply: data }),
      async () => ({ ok: true }),
    ),
  );
  const wrong = await call("POST", "/x/1", json, "not JSON");
  assert.deepEqual([wrong.status, wrong.headers.allow], [405, "DELETE, GET, HEAD, OPTIONS, PUT"]);
  const options = await call("OPTIONS", "/x/1?y");
  assert.deepEqual([options.status, options.headers.allow], [204, "DELETE, GET, HEAD, OPTIONS, PUT"]);
  assert.equal((await call("OPTIONS", "/y")).status, 404);
  assert.equal((await call("GET", "/y")).code, "NOT_FOUND");
  assert.equal((await call("GET", "/x/%ff")).code, "BAD_REQUEST");
  assert.notEqual((await call("GET", "/x/1")).headers.connection, "close");
  state.isDraining = true;
  assert.equal((await call("GET", "/x/1")).headers.connection, "close");
});

test("requests and connections are counted while they are open, and each answer by its route and status", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { app, figure } = serving(
    bind(
      define({ id: "slow", method: "GET", path: "/slow", access: { public: true }, reply: data }),
      async () => {
        await promise;
        return { ok: true };
      },
    ),
  );
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const answer = fetch(`${url}/slow`);
  const open = (count: number) =>
    until(`${count} are open`, async () => figure("assay_http_requests_in_flight") === count);
  await open(1);
  assert.equal(figure("assay_http_connections"), 1);
  resolve();
  assert.equal((await answer).status, 200);
  await (await answer).text();
  assert.equal((await fetch(`${url}/nowhere`)).status, 404);
  await open(0);
  assert.equal(figure('assay_http_request_seconds_count{route="slow",status="200"}'), 1);
  assert.equal(figure('assay_http_request_seconds_count{route="none",status="404"}'), 1);
  assert.ok(figure('assay_http_request_seconds_sum{route="none",status="404"}') < 1000);
  await app.close();
});

test("a connection that never asked for anything does not hold up the end", async () => {
  const { app } = serving(
    bind(define({ id: "r", method: "GET", path: "/x", access: { public: true }, reply: data }), async () => ({
      ok: true,
    })),
  );
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const silent = connect(port, "127.0.0.1");
  const closed = once(silent, "close");
  await Promise.all([once(silent, "connect"), once(app.server, "connection")]);
  silent.on("error", () => {});
  await app.close();
  await closed;
});
