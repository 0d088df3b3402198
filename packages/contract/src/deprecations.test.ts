import assert from "node:assert/strict";
import test from "node:test";
import { deprecations, listDeprecations } from "./deprecations.ts";
import { describeApi } from "./openapi.ts";
import { routes } from "./routes.ts";

const planted = {
  listAttempts: { since: "2027-01-01", sunset: "2028-01-01", instead: "Use `GET /v1/sessions/:id`." },
};

type Operation = { operationId: string; deprecated?: true; description: string };

function operationsOf(document: unknown): Operation[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.values(paths).flatMap((methods) => Object.values(methods));
}

test("a deprecated route is marked in the OpenAPI document, with what to use instead, and no other is", () => {
  const marked = operationsOf(describeApi(routes, { deprecated: planted })).filter(
    ({ deprecated }) => deprecated,
  );
  assert.deepEqual(
    marked.map(({ operationId }) => operationId),
    ["listAttempts"],
  );
  assert.match(
    marked[0]?.description ?? "",
    /^Deprecated since 2027-01-01, and gone from 2028-01-01 on\. Use `GET \/v1\/sessions\/:id`\.\n/,
  );
});

test("the page on versions has a row for each, and says so where there is none", () => {
  assert.match(
    listDeprecations(routes, planted),
    /\n\| `GET \/v1\/sessions\/attempts\/attempts` \| 2027-01-01 \| 2028-01-01 \| Use `GET \/v1\/sessions\/:id`\. \|$/,
  );
  assert.equal(listDeprecations(routes, {}), "Nothing is deprecated at present.");
});

test("what is deprecated are routes of the contract, each with a year's notice", () => {
  for (const [id, { since, sunset }] of Object.entries(deprecations)) {
    assert.ok(
      routes.some((route) => route.id === id),
      id,
    );
    assert.ok(sunset === null || Date.parse(sunset) - Date.parse(since) >= 365 * 86_400_000, id);
  }
});
