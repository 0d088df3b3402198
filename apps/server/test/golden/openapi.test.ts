import assert from "node:assert/strict";
import test from "node:test";
import { fieldNotes } from "@assay/contract/field-notes";
import { bodyExample, dataExample, describeApi } from "@assay/contract/openapi";
import { routes } from "@assay/contract/routes";
import { Compile } from "typebox/compile";

type Shape = {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
  additionalProperties?: boolean | Shape;
};
type Answer = { headers?: object; content?: Record<string, { schema: Shape; example?: unknown }> };
type Described = {
  operationId: string;
  tags: string[];
  parameters?: { name?: string; description?: string; $ref?: string }[];
  requestBody?: { content: Record<string, { schema: Shape; example?: unknown }> };
  responses: Record<string, Answer>;
};

const document = describeApi(routes) as unknown as {
  paths: Record<string, Record<string, Described>>;
  webhooks: Record<string, { post: Described }>;
  components: { schemas: Record<string, Shape> };
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** Every schema with its place, the components' own first. */
function* schemas(shape: Shape, place: string): Generator<[Shape, string]> {
  yield [shape, place];
  for (const [name, inner] of Object.entries(shape.properties ?? {}))
    yield* schemas(inner, `${place}.${name}`);
  if (shape.items) yield* schemas(shape.items, `${place}[]`);
  for (const choice of shape.anyOf ?? []) yield* schemas(choice, place);
  if (typeof shape.additionalProperties === "object")
    yield* schemas(shape.additionalProperties, `${place}.*`);
}
const components = Object.entries(document.components.schemas);
const all = components.flatMap(([name, shape]) => [...schemas(shape, name)]);

test("every body and every success has an example that its schema accepts", () => {
  for (const route of routes) {
    if (route.body !== undefined) {
      const validator = Compile(route.body);
      assert.deepEqual(validator.Errors(bodyExample(route)), [], `body of ${route.id}`);
    }
    const payload =
      "list" in route.reply ? route.reply.list : "data" in route.reply ? route.reply.data : null;
    if (payload !== null)
      assert.deepEqual(Compile(payload).Errors(dataExample(route)), [], `data of ${route.id}`);
  }
  for (const { operationId, requestBody, responses } of operations) {
    const bodies = [
      ...Object.values(requestBody?.content ?? {}),
      ...Object.entries(responses).flatMap(([status, answer]) =>
        status.startsWith("2") && answer.content?.["application/json"]
          ? [answer.content["application/json"]]
          : [],
      ),
    ];
    for (const { example } of bodies) assert.notEqual(example, undefined, operationId);
  }
});

test("what arrives at an endpoint has separate tags, and no two tags name one file", () => {
  const tags = new Set(operations.flatMap((operation) => operation.tags));
  const events = Object.values(document.webhooks).flatMap(({ post }) => post.tags);
  assert.deepEqual(
    events.filter((tag) => tags.has(tag)),
    [],
  );
  const files = [...tags, ...new Set(events)].map((tag) => tag.toLowerCase().replaceAll(/[^a-z]/g, ""));
  assert.equal(new Set(files).size, files.length);
});

test("no component ends in the name of a system, since Go leaves such files out elsewhere", () => {
  const systems = /(Android|Darwin|Ios|Js|Linux|Windows|Wasm|Unix|Test|Arm|Arm64|Amd64)$/;
  const names = Object.keys(document.components.schemas);
  assert.deepEqual(
    names.filter((name) => systems.test(name)),
    [],
  );
});

test("null stands only beside something else, never alone", () => {
  const alone = all.flatMap(([{ properties = {}, items }, place]) =>
    [...Object.entries(properties), ["[]", items ?? {}] as const]
      .filter(([, inner]) => inner.type === "null")
      .map(([name]) => `${place}.${name}`),
  );
  assert.deepEqual(alone, []);
  for (const [shape, place] of all) if (shape.enum) assert.ok(!shape.enum.includes(null), place);
});

test("a list of texts to choose from is a component, so that one type stands for it everywhere", () => {
  const inline = all.filter(
    ([{ enum: values = [] }, place]) =>
      values.length > 1 && typeof values[0] === "string" && /[.[*]/.test(place),
  );
  assert.deepEqual(
    inline.map(([, place]) => place),
    [],
  );
});

test("every answer in JSON is a component, and so is every error", () => {
  for (const { operationId, responses } of operations)
    for (const [status, { content }] of Object.entries(responses)) {
      const schema = content?.["application/json"]?.schema;
      if (schema !== undefined)
        assert.match(schema.$ref ?? "", /^#\/components\/schemas\//, `${operationId} ${status}`);
    }
});

test("every field and every parameter is described", () => {
  const missing = all.flatMap(([{ properties = {} }, place]) =>
    Object.entries(properties)
      .filter(([, inner]) => inner.$ref === undefined && (inner.description ?? "") === "")
      .filter(([, inner]) => inner.items?.$ref === undefined)
      .map(([name]) => `${place}.${name}`),
  );
  assert.deepEqual(missing, []);
  for (const { operationId, parameters = [] } of operations)
    for (const { name, description, $ref } of parameters)
      assert.ok($ref !== undefined || (description ?? "") !== "", `${operationId}: ${name}`);
});

test("every note on a field is about a field that there is", () => {
  const fields = new Set(
    all.flatMap(([{ properties = {} }, place]) =>
      Object.keys(properties).flatMap((name) => [name, `${place}.${name}`]),
    ),
  );
  assert.deepEqual(
    Object.keys(fieldNotes).filter((name) => !fields.has(name)),
    [],
  );
});
