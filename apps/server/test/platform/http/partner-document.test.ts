import assert from "node:assert/strict";
import test from "node:test";
import { createPartner } from "../../support/api.ts";
import { startTestService } from "../../support/service.ts";

const { url, api } = await startTestService({ role: "api" });

type Document = {
  info: { version: string };
  paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  components: { schemas: Record<string, unknown> };
};

async function read(path: string): Promise<Document> {
  const answer = await fetch(`${url}${path}`);
  assert.equal(answer.status, 200, path);
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  return (await answer.json()) as Document;
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, tags }]) => ({ method, path, operationId, tags })),
  );

test("the document for partners has what an API key can call, and the schemas of that alone", async () => {
  const [whole, partner] = [await read("/openapi"), await read("/openapi?audience=partner")];
  assert.deepEqual(await read("/openapi/partner.json"), partner);
  assert.deepEqual(await read("/openapi.json?audience=partner"), partner);
  assert.equal(partner.info.version, whole.info.version);
  const tags = new Set(operationsOf(partner).flatMap((operation) => operation.tags));
  assert.deepEqual([...tags].sort(), ["Analytics", "Sessions", "Webhooks"]);
  const text = JSON.stringify(partner);
  for (const name of Object.keys(partner.components.schemas))
    assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} is not used`);
  for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([A-Za-z0-9]+)"/g))
    assert.ok(name in partner.components.schemas, `${name} is missing`);
  assert.ok(text.length < JSON.stringify(whole).length / 2);
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

test("another audience is refused by name, and the socket is described at both addresses", async () => {
  const answer = await fetch(`${url}/openapi?audience=everybody`);
  assert.equal(answer.status, 400);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, "BAD_REQUEST");
  assert.match(error.message, /`audience`/);
  assert.deepEqual(await read("/asyncapi.json"), await read("/asyncapi"));
});
