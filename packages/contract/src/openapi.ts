import { type Deprecations, deprecations, describeDeprecation } from "./deprecations.ts";
import { type ErrorCode, errorCodes, errorTable } from "./errors.ts";
import { webhookDescriptions } from "./events.ts";
import { exampleOf } from "./example-of.ts";
import {
  apiKeyForm,
  environmentHeader,
  environments,
  idempotencyLimits,
  sessionCookieNames,
} from "./facts.ts";
import {
  Components,
  camel,
  exampleError,
  exampleOfSuccess,
  type Json,
  type JsonObject,
} from "./openapi-components.ts";
import {
  bodyLimitOf,
  errorsOf,
  honoursIdempotencyKey,
  isInEnvironment,
  isList,
  type RouteDefinition,
  roleForScope,
  scopes,
} from "./route.ts";

/** Version of the published interface. */
export const apiVersion = "1.5.0";

export const tagDescriptions: Readonly<Record<string, string>> = {
  Sessions: "Verification sessions and the attempts made in them.",
  "Session templates": "Settings that sessions share, saved under a name.",
  Webhooks: "Endpoints, encryption keys, events and deliveries.",
  Events: "What arrives at your endpoint.",
  Analytics: "Totals that survive the deletion of the sessions they count.",
  "API keys": "Keys for partner servers.",
  Organization: "The organization, its members and its audit log.",
  Domains: "Domains proven by DNS, and where people may be sent afterwards.",
  Account: "Your data, second factors and sessions.",
  "Sign-in": "Signing up and signing in: password, mailed link, passkey.",
  Operator: "State of the installation, for its operator. Nothing about people or their sessions.",
  Verify: "What the pages and the reading device of the person being verified call.",
};

type DocumentOptions = {
  deprecated?: Deprecations;
  /**
   * A partner's server has an API key, which decides the environment, and handles failures by code. So in its
   * document all failures share one answer: generators write a type and a parser for each listed status.
   */
  audience?: "everyone" | "partner";
};

/**
 * The OpenAPI 3.1 document of the given routes. A named schema becomes a component, and an error code of a
 * route becomes an example of its status.
 */
export function describeApi(
  routes: readonly RouteDefinition[],
  { deprecated = deprecations, audience = "everyone" }: DocumentOptions = {},
): JsonObject {
  const components = new Components();
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: describeRoute(route, components, { deprecated, audience }),
    };
  }
  const isForPartners = audience === "partner";
  const codes = isForPartners ? [...new Set(routes.flatMap(errorsOf))] : errorCodes;
  const used = new Set([...routes.map((route) => route.tag), eventTag]);
  const tags = Object.keys(tagDescriptions).filter((name) => used.has(name));
  return {
    openapi: "3.1.1",
    info: {
      title: "Assay",
      version: apiVersion,
      summary: "Privacy-first identity verification",
      description: [
        "Create a verification session and send the person to its `verification_url`. Read the outcome from the session, or receive a webhook whose body only you can read.",
        "Every answer is `{ data, error }`; lists add `pagination`. Error codes are stable and listed at `/docs/errors`. Every answer, errors included, carries `X-Request-Id`, which identifies it in the logs of the service. Requests are strict: an unknown field is refused. `null` for an optional field means that it is absent; in a PATCH it clears the field, where the field can be cleared. Replies are open: ignore unknown fields and accept unknown values, because every enumeration in a reply or an event may grow (`/docs/versioning`).",
        "`HEAD` answers like `GET` without the body. One slash at the end of a path is ignored. A known path with another method is 405 `METHOD_NOT_ALLOWED` with `Allow`. `OPTIONS` answers 204 with `Allow`.",
        `An organization has two environments. API keys, webhook endpoints, sessions, templates, events, deliveries and figures belong to one of them. A key acts in its environment; users choose one with \`${environmentHeader}\`.`,
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
      examples: Object.fromEntries(
        codes.flatMap((code) => [
          [code, { summary: errorTable[code].message, value: exampleError(code, false) }],
          [`${code}_LIST`, { summary: errorTable[code].message, value: exampleError(code, true) }],
        ]),
      ),
      parameters: {
        ...(isForPartners ? {} : { Environment: environmentParameter }),
        IdempotencyKey: {
          name: "Idempotency-Key",
          in: "header",
          description: `1 to ${idempotencyLimits.keyCharacters} visible characters. For ${idempotencyLimits.keptHours} hours, the same key with the same body on the same route returns the first answer, with \`Idempotent-Replayed: true\`; \`Idempotency-Expires-At\` says until when. Another body is 409 \`IDEMPOTENCY_KEY_REUSED\`. A key counts per route, organization and environment. Failed requests are not remembered.`,
          schema: {
            type: "string",
            minLength: 1,
            maxLength: idempotencyLimits.keyCharacters,
            pattern: "^[\\x21-\\x7e]+$",
          },
          example: "order-1842",
        },
      },
      headers: responseHeaders,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          description: `An API key (\`${apiKeyForm.prefix}…\`) of an organization, with scopes: ${scopes.map((scope) => `\`${scope}\``).join(", ")}.`,
        },
        ...(isForPartners ? {} : userSecuritySchemes),
      },
    },
  };
}

const environmentParameter: JsonObject = {
  name: environmentHeader,
  in: "header",
  description: `Which environment a user acts in, \`${environments[0]}\` unless given. Resources of the other one are not found. An API key always acts in its environment; naming the other one is 400 \`BAD_REQUEST\`. \`live\` before it is open: 409 \`ORGANIZATION_NOT_READY\`.`,
  // No default: generated clients would send it together with a key of the other environment.
  schema: { $ref: "#/components/schemas/Environment" },
};

const userSecuritySchemes: JsonObject = {
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
};

const responseHeaders: JsonObject = {
  RequestId: {
    description: "Identifies this answer in the service's logs.",
    schema: { type: "string" },
    example: "0b8f6f0e-6f0b-4c55-9d5b-0d6f8f7f3c11",
  },
  IdempotentReplayed: {
    description: "Present if the `Idempotency-Key` was known and this answer is the first one, repeated.",
    schema: { type: "string", enum: ["true"] },
  },
  IdempotencyExpiresAt: {
    description: "Present if an `Idempotency-Key` was sent: until when a repetition gets this answer.",
    schema: { type: "string", format: "date-time" },
    example: "2026-03-02T09:30:00.000Z",
  },
  RetryAfter: {
    description: "Seconds to wait before trying again.",
    schema: { type: "integer", minimum: 0 },
    example: 2,
  },
};

function describeRoute(
  route: RouteDefinition,
  components: Components,
  { deprecated, audience }: Required<DocumentOptions>,
): JsonObject {
  const isForPartners = audience === "partner";
  const deprecation = deprecated[route.id];
  const parameters: Json[] = [];
  for (const [where, schema] of [
    ["path", route.params],
    ["query", route.query],
  ] as const) {
    if (schema === undefined) continue;
    for (const [name, property] of Object.entries(schema.properties)) {
      const { description, schema: inner } = components.parameter(property);
      parameters.push({
        name,
        in: where,
        required: where === "path" || (schema.required ?? []).includes(name),
        description: description ?? parameterNotes[name] ?? "",
        schema: inner,
      });
    }
  }
  if (isInEnvironment(route) && !isForPartners)
    parameters.push({ $ref: "#/components/parameters/Environment" });
  if (honoursIdempotencyKey(route)) parameters.push({ $ref: "#/components/parameters/IdempotencyKey" });
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [
      deprecation && describeDeprecation(deprecation),
      route.description,
      describeAccess(route, isForPartners),
    ]
      .filter((text) => text !== undefined)
      .join("\n\n"),
    ...(deprecation === undefined ? {} : { deprecated: true }),
    security: isForPartners ? [{ apiKey: [] }] : securityOf(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body
      ? {
          requestBody: {
            description: `At most ${bodyLimitOf(route) / 1024} KiB, not compressed.`,
            required: route.bodyOptional !== true,
            content: {
              "application/json": {
                schema: components.refer(route.body, true),
                example: bodyExample(route),
              },
            },
          },
        }
      : {}),
    ...(route.upload ? { requestBody: describeUpload(route, route.upload) } : {}),
    responses: {
      ...describeSuccess(route, components),
      ...(isForPartners ? describeFailure(route) : describeErrors(route)),
    },
  };
}

function describeUpload(route: RouteDefinition, types: readonly string[]): JsonObject {
  return {
    description: `The bytes themselves, at most ${bodyLimitOf(route) / 1024} KiB, not compressed.`,
    required: true,
    content: Object.fromEntries(
      types.map((type) => [
        type,
        { schema: { type: "string", format: "binary" }, example: "the bytes of the picture" },
      ]),
    ),
  };
}

function describeAccess(route: RouteDefinition, isForPartners: boolean): string {
  const { access } = route;
  if (route.token !== undefined) return `Needs a \`${route.token}\` of the session.`;
  if ("public" in access) return "Needs no credentials.";
  if ("user" in access) return "Needs a signed-in user.";
  if ("operator" in access)
    return "Needs a signed-in user whom the operator of the service has marked (`assay user grant-operator`). All others get 404.";
  if ("role" in access)
    return `Needs a signed-in user with the role ${access.role}${access.role === "owner" ? "" : " or higher"}; API keys are refused.`;
  if (isForPartners) return `Needs an API key with the scope \`${access.scope}\`.`;
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
      reply.picture.map((type) => [type, { schema: { type: "string", format: "binary" } }]),
    );
    return { [reply.status]: { description: "The picture.", headers, content } };
  }
  if (!("data" in reply) && !("list" in reply)) {
    const description = reply.status === 101 ? "The connection is a WebSocket now." : "Done.";
    return { [reply.status]: { description, headers } };
  }
  const list = "list" in reply;
  const payload = list ? reply.list : reply.data;
  const content = {
    "application/json": {
      schema: components.envelope(payload, route.id, list),
      example: exampleOfSuccess(dataExample(route), list),
    },
  };
  const answer = (description: string): JsonObject => ({
    description,
    headers: honoursIdempotencyKey(route)
      ? {
          ...headers,
          "Idempotent-Replayed": { $ref: "#/components/headers/IdempotentReplayed" },
          "Idempotency-Expires-At": { $ref: "#/components/headers/IdempotencyExpiresAt" },
        }
      : headers,
    content,
  });
  return {
    [reply.status]: answer(
      reply.status === 201 ? "Created." : reply.status === 202 ? "Accepted." : "Success.",
    ),
    ...("also" in reply && reply.also !== undefined
      ? {
          [reply.also]: answer(
            reply.also === 202 ? "Accepted: a mail says how to continue." : "It existed already.",
          ),
        }
      : {}),
  };
}

/**
 * Errors that every route can return share one answer, and only headers that clients act on are repeated.
 * Generators write a type and a parser per status and header: 36,000 lines of Go this way, 51,000 with all of
 * them.
 */
function describeErrors(route: RouteDefinition): JsonObject {
  // A status that the route declares has its own meaning there, with all codes of that status.
  const own = new Set((route.errors ?? []).map((code) => errorTable[code].status));
  const byStatus = Map.groupBy(errorsOf(route), (code) => {
    const { status } = errorTable[code];
    return status >= 500 && !own.has(status) ? "5XX" : String(status);
  });
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, codes]) => [status, describeError(status, codes, isList(route))]),
  );
}

/** All failures of a route as one answer, the codes in the order of their status. */
function describeFailure(route: RouteDefinition): JsonObject {
  const codes = errorsOf(route).toSorted((a, b) => errorTable[a].status - errorTable[b].status);
  return { default: describeError("default", codes, isList(route)) };
}

function describeError(status: string, codes: readonly ErrorCode[], list: boolean): JsonObject {
  const refer = (name: string) => ({ $ref: `#/components/headers/${name}` });
  const headers =
    status === "429" || status === "default" || status.startsWith("5")
      ? { "Retry-After": refer("RetryAfter") }
      : {};
  return {
    description: codes
      .map((code) => `${status === "default" ? `${errorTable[code].status} ` : ""}\`${code}\``)
      .join(", "),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    content: {
      "application/json": {
        schema: { $ref: `#/components/schemas/${list ? "ListFailure" : "Failure"}` },
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${code}${list ? "_LIST" : ""}` }]),
        ),
      },
    },
  };
}

/** A body that the route takes. */
export function bodyExample(route: RouteDefinition): Json {
  if (route.body === undefined) return null;
  return (route.examples?.body ?? exampleOf(route.body, route.id)) as Json;
}

/** The route's answer: the payload, or one item of the list. */
export function dataExample(route: RouteDefinition): Json {
  const { reply } = route;
  if (route.examples?.data !== undefined) return route.examples.data as Json;
  if ("list" in reply) return exampleOf(reply.list, route.id) as Json;
  return "data" in reply ? (exampleOf(reply.data, route.id) as Json) : null;
}

/** Parameters whose schema says nothing, because it is that of the field they filter by. */
const parameterNotes: Readonly<Record<string, string>> = {
  id: "Identifier of what is read or changed.",
  event: "Only entries of this kind.",
  actor_id: "Only what this user or API key did.",
  status: "Only those in this state.",
  enabled: "Only those that are enabled, or only those that are not.",
  type: "Only events of this type.",
};

/**
 * Differs from the tag of webhook operations:
 * generators write one file per tag, and one would overwrite the other.
 */
const eventTag = "Events";

export const deliveryHeaders = (
  [
    [
      "X-Service-Signature",
      "`t=` the time in seconds, `v1=` an HMAC-SHA-256 over time, full stop and body, keyed with the whole secret. While two secrets overlap there are two of them, separated by a space.",
      "^t=[0-9]+,v1=[0-9a-f]{64}( t=[0-9]+,v1=[0-9a-f]{64})?$",
    ],
    ["X-Service-Delivery-Id", "Identifier of the delivery; the same for each try.", "^whd_[A-Za-z0-9]{64}$"],
    ["X-Service-Event", "Type of the event.", "^[a-z.]+$"],
    [
      "webhook-id",
      "Identifier of the event, for Standard Webhooks. The same event can arrive more than once.",
      "^evt_[A-Za-z0-9]{64}$",
    ],
    ["webhook-timestamp", "The time of this try, in seconds.", "^[0-9]+$"],
    [
      "webhook-signature",
      "`v1,` and an HMAC-SHA-256 as Standard Webhooks defines it; two while two secrets overlap.",
      "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$",
    ],
  ] as const
).map(([name, description, pattern]) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", pattern },
}));

/** One entry per event type: what arrives at the partner's endpoint, and its content once decrypted. */
function describeWebhooks(components: Components): JsonObject {
  return Object.fromEntries(
    webhookDescriptions.map(({ type, summary, schema }) => [
      type,
      {
        post: {
          operationId: `on${camel(type.replaceAll(".", "_"))}`,
          tags: [eventTag],
          summary,
          description:
            "The body is a compact JWE encrypted to the endpoint's active key. Verify `X-Service-Signature` (or the Standard Webhooks headers) over it as received, then decrypt; the schema describes the decrypted JSON.",
          security: [],
          parameters: deliveryHeaders,
          requestBody: {
            required: true,
            content: {
              "application/jose": {
                schema: {
                  type: "string",
                  pattern: "^[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+){4}$",
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
