import type { TSchema } from "typebox";
import { errorTable } from "./errors.ts";
import { webhookDescriptions } from "./events.ts";
import { apiKeyForm, idempotencyLimits, sessionCookieNames } from "./facts.ts";
import { Pagination } from "./page.ts";
import {
  bodyLimitOf,
  errorsOf,
  honoursIdempotencyKey,
  isList,
  type RouteDefinition,
  roleForScope,
  scopes,
} from "./route.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** Version of the published interface. */
export const apiVersion = "1.5.0";

export const tagDescriptions: Readonly<Record<string, string>> = {
  "Sign-in": "Signing up and signing in: password, mailed link, passkey.",
  Account: "One's own data, second factors and sessions.",
  Organization: "The organization, its members, and what was done in it.",
  Domains: "Domains proven by DNS, and where people may be sent afterwards.",
  "API keys": "Keys for partner servers.",
  Sessions: "Verification sessions and the attempts made in them.",
  Verify: "What the pages and the reading device of the person being verified call.",
  Webhooks: "Endpoints, encryption keys, events and deliveries.",
  Analytics: "Totals that survive the deletion of the sessions they count.",
};

/**
 * The OpenAPI 3.1 document of the given routes. Everything in it comes from the contract: a named schema becomes a
 * component, an error code of a route becomes an example of its status.
 */
export function describeApi(routes: readonly RouteDefinition[]): JsonObject {
  const components = new Components();
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, components) };
  }
  const tags = [...new Set(routes.map((route) => route.tag))];
  return {
    openapi: "3.1.1",
    info: {
      title: "Assay",
      version: apiVersion,
      summary: "Privacy-first identity verification",
      description: [
        "Create a verification session, send the person to its `verification_url`, and learn the outcome from the session or from a webhook whose body only you can read.",
        "Every answer is `{ data, error }`; lists add `pagination`. Error codes are stable and listed at `/docs/errors`. Requests are strict: an unknown field is refused. `null` for an optional field means that it is absent; in a PATCH it clears the field, where the field can be cleared. Replies are open: ignore fields you do not know.",
        "`HEAD` answers like `GET` without the body, one slash at the end of a path is ignored, and a known path with another method is 405 `METHOD_NOT_ALLOWED` with `Allow`.",
        `\`Idempotency-Key\` makes the repetition of a creating POST safe for ${idempotencyLimits.keptHours} hours.`,
      ].join("\n\n"),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This service" }],
    tags: tags.map((name) => ({ name, description: tagDescriptions[name] ?? "" })),
    paths,
    webhooks: describeWebhooks(components),
    components: {
      schemas: components.schemas(),
      responses: components.responses(),
      parameters: {
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description: `1 to ${idempotencyLimits.keyCharacters} visible characters. The same key and body within ${idempotencyLimits.keptHours} hours returns the first answer, with \`Idempotent-Replayed: true\`.`,
          schema: { type: "string", minLength: 1, maxLength: idempotencyLimits.keyCharacters },
          example: "order-1842",
        },
      },
      headers: {
        RequestId: { description: "Names this answer in the service's logs.", schema: { type: "string" } },
      },
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: `An API key (\`${apiKeyForm.prefix}…\`) of an organization, with scopes: ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
        },
        accessToken: {
          type: "http",
          scheme: "bearer",
          description: "The token that sign-in returns: a user who acts in their active organization.",
        },
        cancelToken: {
          type: "http",
          scheme: "bearer",
          description: "A `cancel_token` of the session that the path names.",
        },
        sessionCookie: {
          type: "apiKey",
          in: "cookie",
          name: sessionCookieNames.https,
          description: "The same token, for this service's own pages.",
        },
      },
    },
  };
}

function describeRoute(route: RouteDefinition, components: Components): JsonObject {
  const parameters: Json[] = [];
  for (const [where, schema] of [
    ["path", route.params],
    ["query", route.query],
  ] as const) {
    if (schema === undefined) continue;
    for (const [name, property] of Object.entries(schema.properties)) {
      const { description, ...rest } = components.inline(property) as JsonObject;
      parameters.push({
        name,
        in: where,
        required: where === "path" || (schema.required ?? []).includes(name),
        ...(description === undefined ? {} : { description }),
        schema: rest,
      });
    }
  }
  if (honoursIdempotencyKey(route)) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, describeAccess(route)].filter((text) => text !== undefined).join("\n\n"),
    security: securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            description: `At most ${bodyLimitOf(route) / 1024} KiB, not compressed.`,
            required: route.bodyOptional !== true,
            content: {
              "application/json": {
                schema: components.refer(route.body),
                ...(route.examples?.body === undefined ? {} : { example: route.examples.body as Json }),
              },
            },
          },
        }
      : {}),
    responses: { ...describeSuccess(route, components), ...describeErrors(route, components) },
  };
}

function describeAccess(route: RouteDefinition): string {
  const { access } = route;
  if (route.token !== undefined) return `Needs a \`${route.token}\` of the session.`;
  if ("public" in access) return "Needs no credentials.";
  if ("user" in access) return "Needs a signed-in user.";
  if ("role" in access)
    return `Needs a signed-in user with the role ${access.role}${access.role === "owner" ? "" : " or higher"}; API keys are refused.`;
  const role = roleForScope(access.scope);
  return `Needs an API key with the scope \`${access.scope}\`, or a signed-in user${role === "member" ? " of the organization" : ` with the role ${role} or higher`}.`;
}

function securityOf({ access, token }: RouteDefinition): Json[] {
  if (token !== undefined) return [{ cancelToken: [] }];
  if ("public" in access) return [];
  const user: Json[] = [{ accessToken: [] }, { sessionCookie: [] }];
  return "scope" in access ? [{ apiKey: [] }, ...user] : user;
}

function describeSuccess(route: RouteDefinition, components: Components): JsonObject {
  const headers = { "X-Request-Id": { $ref: "#/components/headers/RequestId" } };
  const { reply } = route;
  if ("events" in reply) {
    const content = {
      "text/event-stream": {
        schema: {
          type: "string",
          description: "Server-sent events; the `data` of each is JSON, as the schema of the status shows.",
        },
      },
    };
    return { [reply.status]: { description: "The stream.", headers, content } };
  }
  if ("picture" in reply) {
    const content = Object.fromEntries(
      reply.picture.map((type) => [type, { schema: { type: "string", contentMediaType: type } }]),
    );
    return { [reply.status]: { description: "The picture.", headers, content } };
  }
  if (!("data" in reply) && !("list" in reply)) {
    const description = reply.status === 101 ? "The connection is a WebSocket now." : "Done.";
    return { [reply.status]: { description, headers } };
  }
  const list = "list" in reply;
  const payload = list
    ? { type: "array", items: components.refer(reply.list) }
    : components.refer(reply.data);
  const schema: JsonObject = {
    type: "object",
    required: ["data", "error", ...(list ? ["pagination"] : [])],
    properties: {
      data: payload,
      error: { type: "null" },
      ...(list ? { pagination: components.refer(Pagination) } : {}),
    },
  };
  const content = {
    "application/json": {
      schema,
      ...(route.examples?.data === undefined
        ? {}
        : {
            example: {
              data: route.examples.data as Json,
              error: null,
              ...(list ? { pagination: { limit: 10, has_more: false, next_cursor: null } } : {}),
            },
          }),
    },
  };
  const answer = (description: string): JsonObject => ({ description, headers, content });
  return {
    [reply.status]: answer(
      reply.status === 201 ? "Created." : reply.status === 202 ? "Accepted." : "Success.",
    ),
    ...("also" in reply && reply.also !== undefined
      ? {
          [reply.also]: answer(
            reply.also === 202 ? "Accepted: the rest is in a mail." : "It existed already.",
          ),
        }
      : {}),
  };
}

function describeErrors(route: RouteDefinition, components: Components): JsonObject {
  const byStatus = new Map<number, string[]>();
  for (const code of errorsOf(route)) {
    const { status } = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses: JsonObject = {};
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[status] = components.errorResponse(codes, isList(route));
  }
  return responses;
}

/** Collects named schemas and error responses, so that each is written once. */
class Components {
  readonly #schemas = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  constructor() {
    this.#schemas.set("Error", {
      type: "object",
      required: ["code", "message", "hint", "docs"],
      properties: {
        code: { type: "string", description: "Stable; safe to match." },
        message: {
          type: "string",
          description: "What went wrong, for people; names the field where one is at fault.",
        },
        hint: { type: "string", description: "What to do about it." },
        docs: { type: "string", format: "uri", description: "A page about this code." },
      },
    });
    for (const list of [false, true]) {
      this.#schemas.set(list ? "ListFailure" : "Failure", {
        type: "object",
        required: ["data", "error", ...(list ? ["pagination"] : [])],
        properties: {
          data: { type: "null" },
          error: { $ref: "#/components/schemas/Error" },
          ...(list ? { pagination: { $ref: "#/components/schemas/Pagination" } } : {}),
        },
      });
    }
  }

  /** A reference to the component of a named schema; the schema itself when it has no name. */
  refer(schema: TSchema): Json {
    const name = (schema as { title?: string }).title;
    if (name === undefined) return this.inline(schema);
    const text = this.inline(schema);
    const known = this.#schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(text))
      throw new Error(`two schemas are named ${name}`);
    this.#schemas.set(name, text);
    return { $ref: `#/components/schemas/${name}` };
  }

  inline(schema: TSchema): Json {
    return this.#copy(schema, true);
  }

  #copy(value: unknown, top: boolean): Json {
    if (Array.isArray(value)) return value.map((entry) => this.#copy(entry, false));
    if (typeof value !== "object" || value === null) return value as Json;
    if (!top && isSchema(value) && typeof value.title === "string")
      return this.refer(value as unknown as TSchema);
    const copy: JsonObject = {};
    for (const [name, entry] of Object.entries(value)) {
      if (name.startsWith("~") || (name === "title" && typeof entry === "string")) continue;
      copy[name] =
        name === "properties" ? this.#properties(entry as Record<string, unknown>) : this.#copy(entry, false);
    }
    return copy;
  }

  #properties(properties: Record<string, unknown>): Json {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, this.#copy(schema, false)]),
    );
  }

  errorResponse(codes: readonly string[], list: boolean): Json {
    const name = `${list ? "List" : ""}${codes.map(camel).join("Or")}`;
    this.#responses.set(name, {
      description: codes
        .map((code) => `\`${code}\`: ${errorTable[code as keyof typeof errorTable].message}`)
        .join("\n\n"),
      headers: { "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
      content: {
        "application/json": {
          schema: { $ref: `#/components/schemas/${list ? "ListFailure" : "Failure"}` },
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleError(code, list) }])),
        },
      },
    });
    return { $ref: `#/components/responses/${name}` };
  }

  schemas(): JsonObject {
    this.refer(Pagination);
    return sorted(this.#schemas);
  }

  responses(): JsonObject {
    return sorted(this.#responses);
  }
}

function isSchema(value: object): value is { title?: string; type?: unknown } {
  return "type" in value || "anyOf" in value || "enum" in value || "$ref" in value;
}

function exampleError(code: string, list: boolean): Json {
  const { message, hint } = errorTable[code as keyof typeof errorTable];
  return {
    data: null,
    error: { code, message, hint, docs: `https://assay.example.com/docs/errors#${code}` },
    ...(list ? { pagination: { limit: 10, has_more: false, next_cursor: null } } : {}),
  };
}

function camel(code: string): string {
  return code
    .toLowerCase()
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

function sorted(map: ReadonlyMap<string, Json>): JsonObject {
  return Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** One entry for each event type: what arrives at the partner's endpoint, and what it holds once decrypted. */
function describeWebhooks(components: Components): JsonObject {
  return Object.fromEntries(
    webhookDescriptions.map(({ type, summary, schema }) => [
      type,
      {
        post: {
          operationId: `on${camel(type.replaceAll(".", "_"))}`,
          tags: ["Webhooks"],
          summary,
          description:
            "The body is a compact JWE encrypted to the endpoint's active key. Verify `X-Service-Signature` (or the Standard Webhooks headers) over it as received, then decrypt; the schema describes the decrypted JSON.",
          security: [],
          requestBody: {
            required: true,
            content: {
              "application/jose": {
                schema: {
                  type: "string",
                  contentMediaType: "application/json",
                  contentSchema: components.refer(schema),
                },
              },
            },
          },
          responses: { "2XX": { description: "Any 2xx counts as delivered." } },
        },
      },
    ]),
  );
}
