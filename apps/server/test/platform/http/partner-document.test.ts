import assert from "node:assert/strict";
import test from "node:test";
import { sampleEvent } from "@assay/contract/event-samples";
import { type EventType, eventTypes } from "@assay/contract/events";
import { Compile } from "typebox/compile";
import { createPartner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService({ role: "api" });

type Operation = {
  operationId: string;
  tags: string[];
  security: object[];
  parameters?: object[];
  responses: Record<string, { description: string }>;
};
type Document = {
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> } & Record<string, Record<string, unknown>>;
};

async function read(path: string): Promise<Document> {
  const answer = await fetch(`${url}${path}`);
  assert.equal(answer.status, 200, path);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  return (await answer.json()) as Document;
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
  );

test("the document for partners has what an API key can call, and the schemas of that alone", async () => {
  const [whole, partner] = [await read("/openapi"), await read("/openapi?audience=partner")];
  assert.deepEqual(await read("/openapi/partner.json"), partner);
  assert.deepEqual(await read("/openapi.json?audience=partner"), partner);
  assert.equal(partner.info.version, whole.info.version);
  const tags = new Set(operationsOf(partner).flatMap((operation) => operation.tags));
  assert.deepEqual([...tags].sort(), ["Analytics", "Session templates", "Sessions", "Webhooks"]);
  const text = JSON.stringify(partner);
  for (const name of Object.keys(partner.components.schemas))
    assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is not used`);
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([A-Za-z0-9]+)"/g))
    assert.ok(name in partner.components.schemas, `${name} is missing`);
  for (const [, kind = "", name = ""] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g))
    assert.ok(name in (partner.components[kind] ?? {}), `${kind} ${name} is missing`);
  assert.ok(text.length < JSON.stringify(whole).length / 2);
});

test("to partners each operation has its successes and one failure, which lists every code with its status", async () => {
  const [whole, partner] = [await read("/openapi"), await read("/openapi/partner.json")];
  for (const { method, path, security, responses, parameters = [] } of operationsOf(partner)) {
    assert.deepEqual(security, [{ apiKey: [] }]);
    assert.ok(!JSON.stringify(parameters).includes("parameters/Environment"), "the key decides");
    const { default: failure, ...successes } = responses;
    for (const status of Object.keys(successes)) assert.match(status, /^2/);
    const codes = Object.entries(whole.paths[path]?.[method]?.responses ?? {})
      .filter(([status]) => !status.startsWith("2"))
      .flatMap(([, { description }]) => [...description.matchAll(/`\w+`/g)].map(([code]) => code));
    assert.deepEqual(
      [...(failure?.description ?? "").matchAll(/\d{3} (`\w+`)/g)].map(([, code]) => code).sort(),
      codes.sort(),
      `${method} ${path}`,
    );
  }
});

test("an API key gets past the door of every operation in it, and of no other", async () => {
  const [whole, partner] = [await read("/openapi"), await read("/openapi/partner.json")];
  const { api: caller } = await createPartner(api);
  const inDocument = new Set(operationsOf(partner).map(({ operationId }) => operationId));
  for (const { method, path, operationId, tags } of operationsOf(whole)) {
    const filled = path.replaceAll(/\{[a-z_]+\}/g, "nothing");
    // What answers without a credential needs no key either.
    if (!tags.includes("Operator") && (await api.call(method.toUpperCase(), filled)).status !== 401) continue;
    const { status } = await caller.call(method.toUpperCase(), filled);
    const isRefused = status === 401 || status === 403 || (status === 404 && tags.includes("Operator"));
    assert.equal(isRefused, !inDocument.has(operationId), `${method} ${path} answered ${status}`);
  }
});

const schemaAt = async (type: EventType) => {
  const answer = await fetch(`${url}/schemas/events/${type}.json`);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/schema+json; charset=utf-8");
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  return (await answer.json()) as { $id: string };
};

test("each event has a JSON Schema at a separate address, which accepts the event and no other", async () => {
  for (const type of eventTypes) {
    const schema = await schemaAt(type);
    assert.equal(schema.$id, `${url}/schemas/events/${type}.json`);
    const validator = Compile(schema);
    for (const other of eventTypes)
      assert.equal(validator.Check(sampleEvent(other)), other === type, `${other} by the schema of ${type}`);
    assert.ok(validator.Check({ ...sampleEvent(type), added_later: 1 }), "events may grow");
  }
});

test("the AsyncAPI document has every event with its schema, its headers and an example", async () => {
  const document = (await (await fetch(`${url}/asyncapi.json`)).json()) as any;
  const { channels, operations, components } = document;
  assert.deepEqual(Object.keys(channels.events.messages), eventTypes);
  assert.equal(operations.toEndpoint.messages.length, eventTypes.length);
  for (const type of eventTypes) {
    const { payload, headers, examples } = components.messages[type];
    const { properties } = components.schemas[payload.$ref.split("/").at(-1)];
    assert.deepEqual(properties.type.enum, [type]);
    assert.ok(headers.required.includes("X-Service-Signature"));
    assert.deepEqual(examples[0].payload, sampleEvent(type));
  }
});

type Request = {
  method: string;
  header: { key: string; value: string; disabled?: boolean }[];
  body?: { raw: string };
  url: { raw: string; variable?: { key: string; value: string }[]; query?: { disabled: boolean }[] };
};

test("the collection has every operation of partners once, and its requests work with the two variables set", async () => {
  const collection = (await (await fetch(`${url}/postman/partner.json`)).json()) as any;
  const requests: Request[] = collection.item.flatMap((folder: any) =>
    folder.item.map((item: any) => item.request),
  );
  const called = ({ method, url: { raw } }: Request) =>
    `${method} ${raw.replace("{{base_url}}", "").replace(/\?.*/, "")}`;
  const partner = operationsOf(await read("/openapi/partner.json")).map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
  );
  assert.deepEqual(requests.map(called).sort(), partner.sort());
  assert.deepEqual(collection.variable, [
    { key: "base_url", value: url },
    { key: "api_key", value: "" },
  ]);
  const { api: caller } = await createPartner(api);
  const statuses = new Map<string, number>();
  for (const request of requests) {
    const path = called(request).split(" ")[1] ?? "";
    const filled = (request.url.variable ?? []).reduce(
      (at, { key, value }) => at.replace(`:${key}`, value),
      path,
    );
    const body = request.body === undefined ? undefined : JSON.parse(request.body.raw);
    statuses.set(called(request), (await caller.call(request.method, filled, { body })).status);
  }
  assert.equal(statuses.get("POST /v1/sessions"), 201);
  assert.equal(statuses.get("GET /v1/sessions"), 200);
  // Identifiers are examples, and endpoints are at example.com; nothing else is wrong with any request.
  for (const [call, status] of statuses)
    assert.ok([200, 201, 400, 404].includes(status), `${call} ${status}`);
});

test("another audience is refused by name, and the socket is described at both addresses", async () => {
  const answer = await fetch(`${url}/openapi?audience=everybody`);
  assert.equal(answer.status, 400);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "BAD_REQUEST");
  assert.match(error.message, /`audience`/);
  assert.deepEqual(await read("/asyncapi.json"), await read("/asyncapi"));
});
