import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type JsonSchema,
  routesWithoutTool,
  toolsOf,
  toolTexts,
  withheldFields,
} from "@assay/contract/agent-tools";
import { pageLanguages } from "@assay/contract/facts";
import { routesOf } from "@assay/contract/route";
import { routes } from "@assay/contract/routes";
import { closed, open } from "@assay/contract/schema";
import { ageClaim, claimKeys } from "@assay/contract/sessions";
import { type TProperties, Type } from "typebox";
import { SandboxDevices } from "./finish-sandbox-session.ts";
import { createTools } from "./tools.ts";

const tools = createTools(new SandboxDevices(null as never, () => ""));

/** Names that suggest a claim, a secret, or something that holds one. */
const tellingName =
  /token|secret|password|private|payload|claim|portrait|^(key|code|codes|mrz|proof|receipt)$/;
/** Harmless fields with such a name. */
const harmless = new Set([
  "payload_expires_at",
  "payload_scrubbed_at",
  "undelivered_payload_retention_hours",
]);

/**
 * Fields with free text: what partners wrote, addresses of ours, and public keys. Check where the text comes
 * from before you add a field.
 */
const freeTexts = new Set([
  "data.client_reference_id",
  "data.metadata.*",
  "data.name",
  "data.endpoint.name",
  "data.redirect_url",
  "data.embed_origin",
  "data.verification_url",
  "data.url",
  "data.endpoint.url",
  "data.webhook_endpoint_id",
  "data.warnings.message",
  "data.share_fields.*.reason",
  ...pageLanguages.map((language) => `data.share_fields.*.reasons.${language}`),
  "data.consent.selected_field_keys",
  "data.key_id",
  "data.sealed_body.key_id",
  "data.jwk.kid",
  "data.jwk.n",
  "data.jwk.e",
  "data.event.client_reference_id",
  "pagination.next_cursor",
]);

/** The problems of an output schema, by the paths of its fields. */
function problemsOf(schema: JsonSchema, path: readonly string[] = []): string[] {
  const at = path.join(".");
  const name = path.at(-1) ?? "";
  const problems: string[] = [];
  if (claimKeys.some((key) => key === name) || name.startsWith(ageClaim.prefix))
    problems.push(`${at} is named like a claim`);
  if (tellingName.test(name) && !harmless.has(name) && schema.enum === undefined)
    problems.push(`${at} is named like a secret`);
  const choices = (schema.anyOf as JsonSchema[] | undefined) ?? [];
  const types = [schema.type].flat();
  if (choices.length === 0 && types[0] === undefined) problems.push(`${at} can be anything`);
  if (types.includes("string") && !isBound(schema) && !freeTexts.has(at))
    problems.push(`${at} can be any text`);
  if (
    types.includes("object") &&
    schema.properties === undefined &&
    schema.additionalProperties === undefined
  )
    problems.push(`${at} can have any fields`);
  return [
    ...problems,
    ...Object.entries((schema.properties as Record<string, JsonSchema> | undefined) ?? {}).flatMap(
      ([field, inner]) => problemsOf(inner, [...path, field]),
    ),
    ...choices.flatMap((choice) => problemsOf(choice, path)),
    ...(types.includes("array") ? problemsOf(schema.items as JsonSchema, path) : []),
    ...(typeof schema.additionalProperties === "object"
      ? problemsOf(schema.additionalProperties as JsonSchema, [...path, "*"])
      : []),
  ];
}

/** An enumeration, a time, a digest, or an identifier of ours. */
function isBound({ enum: words, format, pattern }: JsonSchema): boolean {
  return (
    words !== undefined ||
    format === "date-time" ||
    format === "uuid" ||
    (typeof pattern === "string" &&
      /^\^(vst?|va|evt|wh[dake])_\[A-Za-z0-9\]\{\d+\}\$$|^\^\\d|^\^\[0-9a-f\]\{64\}\$$/.test(pattern))
  );
}

test("no field of any tool's answer could hold a claim or a secret", () => {
  const problems = tools.flatMap(({ name, outputSchema }) =>
    outputSchema === null ? [] : problemsOf(outputSchema).map((problem) => `${name}: ${problem}`),
  );
  assert.deepEqual(problems, []);
});

test("a field that could is noticed", () => {
  const planted = (data: TProperties) => {
    const [tool] = toolsOf([
      routesOf("Sessions")("GET /v1/planted", {
        id: "planted",
        summary: "Planted",
        access: { scope: "sessions:read" },
        reply: { status: 200, data: open(data) },
      }),
    ]);
    return problemsOf(tool?.outputSchema ?? {}).join("\n");
  };
  assert.equal(planted({ count: Type.Integer() }), "");
  assert.match(planted({ date_of_birth: Type.Integer() }), /data\.date_of_birth is named like a claim/);
  assert.match(planted({ age_over_18: Type.Boolean() }), /named like a claim/);
  assert.match(planted({ api_secret: Type.Integer() }), /named like a secret/);
  assert.match(planted({ note: Type.String() }), /data\.note can be any text/);
  assert.match(
    planted({ inner: open({ list: Type.Array(Type.String()) }) }),
    /data\.inner\.list can be any text/,
  );
  assert.match(planted({ anything: Type.Unknown() }), /data\.anything can be anything/);
  assert.match(planted({ map: Type.Unsafe({ type: "object" }) }), /data\.map can have any fields/);
});

test("what is withheld is in no schema, and each tool that withholds says so", () => {
  for (const { name, outputSchema, description } of tools)
    for (const field of Object.keys(withheldFields)) {
      assert.ok(!JSON.stringify(outputSchema ?? {}).includes(`"${field}"`), `${name} shows ${field}`);
      const declared = JSON.stringify(routes.find(({ id }) => id === name)?.reply ?? {}).includes(
        `"${field}"`,
      );
      assert.equal(description.includes(`withholds \`${field}\``), declared, name);
    }
});

test("each tool says when to use it, without words of HTTP, and names only tools that there are", () => {
  const names = new Set(tools.map(({ name }) => name));
  for (const { name, description } of tools) {
    assert.ok(name in toolTexts || name === "finishSandboxSession", `${name} has no text of its own`);
    assert.doesNotMatch(description, /\b(?:[2-5]\d\d|header)\b|\/reference/, name);
    for (const [, other = ""] of description.matchAll(/`([a-z]+[A-Z]\w+)`/g))
      assert.ok(names.has(other), `${name} names ${other}`);
  }
  assert.deepEqual(
    Object.keys(toolTexts).filter((name) => !names.has(name)),
    [],
  );
});

test("every route that a key may call is a tool, or is left out for a reason", () => {
  const callable = routes.filter(({ access }) => "scope" in access).map(({ id }) => id);
  const offered = toolsOf(routes).map(({ name }) => name);
  assert.deepEqual([...offered, ...Object.keys(routesWithoutTool)].sort(), callable.sort());
  assert.equal(new Set(tools.map(({ name }) => name)).size, tools.length);
});

test("what a tool does to the world follows from its route", () => {
  const marks = tools.map(({ name, annotations }) => {
    const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
    return `${name}${readOnlyHint ? " reads" : ""}${destructiveHint ? " destroys" : ""}${idempotentHint ? " repeatable" : ""}`;
  });
  for (const expected of [
    "getSession reads repeatable",
    "createSession",
    "cancelSession destroys repeatable",
    "deleteWebhookEndpoint destroys repeatable",
    "updateWebhookEndpoint destroys repeatable",
    "testWebhookEndpoint",
    "finishSandboxSession",
  ])
    assert.ok(marks.includes(expected), `${expected} in ${marks.join(", ")}`);
  for (const { name, scope, annotations } of tools)
    assert.equal(annotations.readOnlyHint, scope.endsWith(":read"), name);
});

test("a route of which two parts have the same name cannot become a tool", () => {
  const same = { id: Type.String() };
  assert.throws(
    () =>
      toolsOf([
        routesOf("Sessions")("POST /v1/twice/:id", {
          id: "twice",
          summary: "Twice",
          access: { scope: "sessions:write" },
          params: closed(same),
          body: closed(same),
          reply: { status: 204 },
        }),
      ]),
    /twice has two arguments named id/,
  );
});
