import { apiVersion, bodyExample, tagDescriptions } from "./openapi.ts";
import type { Json, JsonObject } from "./openapi-components.ts";
import { honoursIdempotencyKey, type RouteDefinition } from "./route.ts";

/**
 * The routes as a Postman collection (format 2.1), which Bruno, Insomnia and others import as well. The
 * reader sets two variables: `base_url` and `api_key`.
 */
export function describeCollection(routes: readonly RouteDefinition[], baseUrl: string): JsonObject {
  const tags = Object.entries(tagDescriptions).filter(([name]) => routes.some(({ tag }) => tag === name));
  return {
    info: {
      name: "Assay",
      version: apiVersion,
      description: `Set \`api_key\` to a key of the sandbox. Reference: ${baseUrl}/reference`,
      schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
    },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{api_key}}", type: "string" }] },
    variable: [
      { key: "base_url", value: baseUrl },
      { key: "api_key", value: "" },
    ],
    item: tags.map(([name, description]) => ({
      name,
      description,
      item: routes.filter(({ tag }) => tag === name).map(describeRequest),
    })),
  };
}

function describeRequest(route: RouteDefinition): JsonObject {
  const body = bodyExample(route);
  const query = fieldsOf(route.query).map((field) => ({ ...field, disabled: true }));
  const options = query.map(({ key, value }) => `${key}=${value}`).join("&");
  return {
    name: route.summary,
    request: {
      method: route.method,
      description: route.description ?? "",
      header: [
        ...(body === null ? [] : [{ key: "Content-Type", value: "application/json" }]),
        ...(honoursIdempotencyKey(route)
          ? [{ key: "Idempotency-Key", value: "{{$guid}}", disabled: true }]
          : []),
      ],
      ...(body === null
        ? {}
        : {
            body: {
              mode: "raw",
              raw: JSON.stringify(body, null, 2),
              options: { raw: { language: "json" } },
            },
          }),
      url: {
        raw: `{{base_url}}${route.path}${options === "" ? "" : `?${options}`}`,
        host: ["{{base_url}}"],
        path: route.path.split("/").slice(1),
        ...(query.length === 0 ? {} : { query }),
        ...(route.params === undefined ? {} : { variable: fieldsOf(route.params) }),
      },
    },
    response: [],
  };
}

type Field = { key: string; value: string; description: string };

/** The parameters of a path or query, each with an example where its schema has one. */
function fieldsOf(schema: RouteDefinition["query"]): Field[] {
  return Object.entries(schema?.properties ?? {}).map(([key, property]) => {
    const { description = "", examples, default: byDefault, enum: values } = property as Described;
    return { key, value: String(examples?.[0] ?? byDefault ?? values?.[0] ?? ""), description };
  });
}

type Described = { description?: string; examples?: Json[]; default?: Json; enum?: Json[] };
