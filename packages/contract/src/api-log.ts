import { Type } from "typebox";
import type { ApiKeyId, ApiRequestId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { Nullable, OneOf, open, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("API keys");

/** How long a request stays listed. */
export const apiLogLimits = { days: 7 } as const;

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;
export type StatusClass = (typeof statusClasses)[number];

export const ApiRequest = open("ApiRequest", {
  id: UuidOf<ApiRequestId>(),
  request_id: Type.String({
    description: "The `X-Request-Id` of the answer.",
    examples: ["req_5f1d7a84c0b2e93a61d4f708"],
  }),
  api_key: open("ApiRequestKey", {
    id: UuidOf<ApiKeyId>(),
    name: Nullable(
      Type.String({ description: "Null once the key is deleted.", examples: ["Production backend"] }),
    ),
  }),
  method: Type.String({ examples: ["POST"] }),
  path: Type.String({
    description:
      "Without the query string. A part that is neither a word of a route nor an identifier of this service is shown as `…`.",
    examples: ["/v1/sessions"],
  }),
  status: Type.Integer({ description: "The HTTP status of the answer.", examples: [201] }),
  error_code: Nullable(Type.String({ description: "Null for a success.", examples: ["UNKNOWN_CLAIM_KEY"] })),
  duration_ms: Type.Integer({
    minimum: 0,
    description: "From the request to the last byte of the answer.",
    examples: [12],
  }),
  replayed: Type.Boolean({
    description: "Whether the answer was that of an earlier request with the same `Idempotency-Key`.",
  }),
  count: Type.Integer({
    minimum: 1,
    description:
      "How many requests this entry stands for. Answers with status 503 to one key within a second are one entry, with the request id of the first.",
    examples: [1],
  }),
  created_at: { ...Timestamp, description: "When it was answered." },
});

const RefusedCount = (period: string) =>
  Type.Integer({
    minimum: 0,
    description: `Requests with API keys, of both environments, that were beyond it in the last ${period}.`,
    examples: [0],
  });

export const listApiRequests = route("GET /v1/auth/orgs/api-requests", {
  id: "listApiRequests",
  summary: "List the latest requests with API keys",
  description: `The API log: requests of the last ${apiLogLimits.days} days with a key of this environment, also with a disabled one. It holds no bodies, query strings or requests of the dashboard. Entries appear about a second after the answer. A process that is killed loses those of its last second; an overloaded one may omit some.`,
  access: { role: "member", inEnvironment: true },
  query: pageQuery(UuidOf<ApiRequestId>(), {
    request_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "The `X-Request-Id` of an answer." }),
    ),
    api_key_id: Type.Optional({ ...UuidOf<ApiKeyId>(), description: "Requests with this key." }),
    status_class: Type.Optional(OneOf(statusClasses, { description: "The first digit of the status." })),
    created_from: Type.Optional(Timestamp),
    created_to: Type.Optional(Timestamp),
  }),
  reply: { status: 200, list: ApiRequest },
});

export const getRequestLimit = route("GET /v1/auth/orgs/request-limit", {
  id: "getRequestLimit",
  summary: "Read the limit of requests a second",
  description:
    "The limit is one for the whole organization, and each server process counts for itself. A request beyond it gets 503 `REQUEST_RATE_EXCEEDED` with `Retry-After`, and has no effect.",
  access: { role: "member" },
  reply: {
    status: 200,
    data: open("RequestLimit", {
      requests_per_second: Type.Integer({
        minimum: 1,
        description:
          "Maximum requests per second to one server process, with API keys and access tokens together.",
        examples: [5000],
      }),
      refused_last_hour: RefusedCount("hour"),
      refused_last_day: RefusedCount("day"),
    }),
  },
});

export const apiLogRoutes = route.declared;
