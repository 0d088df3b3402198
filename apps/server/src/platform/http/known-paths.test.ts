import assert from "node:assert/strict";
import test from "node:test";
import { KnownPaths, pathOf, pathPattern } from "./known-paths.ts";

test("the path of an address ends where its query begins", () => {
  assert.equal(pathOf("/v1/sessions?limit=1?2"), "/v1/sessions");
  assert.equal(pathOf("/v1/sessions"), "/v1/sessions");
  assert.equal(pathOf("?x"), "");
});

test("a route's pattern takes one part for each parameter, any rest for a star, and one slash at the end", () => {
  const session = pathPattern("/v1/sessions/:session_id/cancel");
  for (const path of ["/v1/sessions/vs_1/cancel", "/v1/sessions/a.b/cancel/"]) assert.match(path, session);
  for (const path of [
    "/v1/sessions//cancel",
    "/v1/sessions/a/b/cancel",
    "/v1/sessions/vs_1/cancel//",
    "/x/v1/sessions/vs_1/cancel",
    "/v1/sessions/vs_1/cancelled",
  ])
    assert.doesNotMatch(path, session);
  assert.match("/docs/a/b", pathPattern("/docs/*"));
  assert.match("/docs", pathPattern("/docs/"));
  assert.doesNotMatch("/openapiXjson", pathPattern("/openapi.json"));
});

test("a path has the methods of all routes at it, each once and in order, and of no other", () => {
  const known = new KnownPaths();
  const definition = { id: "read" } as never;
  known.add(["POST", "GET"], "/v1/things/:id");
  known.add("GET", "/v1/things/own", definition);
  known.add("DELETE", "/v1/others");
  assert.deepEqual(known.methodsAt("/v1/things/own"), ["GET", "POST"]);
  assert.deepEqual(known.methodsAt("/v1/others"), ["DELETE"]);
  assert.deepEqual(known.methodsAt("/v1/none"), []);
  assert.equal(known.routeAt("POST", "/v1/things/own"), undefined);
  assert.equal(known.routeAt("GET", "/v1/things/1"), undefined);
  assert.equal(known.routeAt("GET", "/v1/nothing"), undefined);
  known.add("PUT", "/v1/things/own", definition);
  assert.equal(known.routeAt("PUT", "/v1/things/own/"), definition);
});
