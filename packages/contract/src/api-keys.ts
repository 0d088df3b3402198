import { Type } from "typebox";
import { apiKeyForm, environmentHeader, environments } from "./facts.ts";
import type { ApiKeyId, UserId } from "./ids.ts";
import { pageQuery } from "./page.ts";
import { routesOf, scopes } from "./route.ts";
import { closed, Nullable, OneOf, open, Text, Timestamp, UuidOf } from "./schema.ts";

const route = routesOf("API keys");

const ApiKeyName = Text({ max: 120, description: "What the key is for.", examples: ["Production backend"] });
const Scopes = Type.Array(OneOf(scopes), {
  uniqueItems: true,
  maxItems: scopes.length,
  examples: [["sessions:read", "sessions:write"]],
});

const apiKeyFields = {
  id: UuidOf<ApiKeyId>(),
  name: ApiKeyName,
  scopes: Scopes,
  environment: OneOf(environments, {
    description: "The key reads and creates resources of this environment only.",
  }),
  key_prefix: Nullable(
    Type.String({
      description:
        "The first characters of the key, to recognize it. The rest is not stored. Null for keys of earlier versions.",
      examples: [`${apiKeyForm.prefix}EXAM`],
    }),
  ),
  enabled: Type.Boolean(),
  request_count: Type.Integer({
    minimum: 0,
    description:
      "Authenticated requests made with this key, as of a second or two ago. A process of the service that is killed may leave its last second uncounted, so do not bill by it.",
  }),
  last_used_at: Nullable(Timestamp),
  created_by: Nullable(
    open("ApiKeyCreator", {
      id: UuidOf<UserId>(),
      name: Type.String({ description: "The name of the account.", examples: ["Ada Lovelace"] }),
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const ApiKey = open("ApiKey", apiKeyFields);

export const CreatedApiKey = open("CreatedApiKey", {
  ...apiKeyFields,
  key: Type.String({
    pattern: `^${apiKeyForm.prefix}[A-Za-z0-9]{${apiKeyForm.length}}$`,
    description: "The secret. It is shown only here; keep it somewhere safe.",
    examples: [`${apiKeyForm.prefix}EXAMPLEexampleEXAMPLEexample1234`],
  }),
});

const params = closed({ id: UuidOf<ApiKeyId>() });

export const createApiKey = route("POST /v1/auth/api-keys", {
  id: "createApiKey",
  summary: "Create an API key",
  description:
    "The key acts for the active organization with the given scopes. A key with no scopes reaches no partner route. Its environment is chosen here and never changes. 409 `ORGANIZATION_NOT_READY` for a live key before live is open. 409 `CONFLICT` when the organization has reached its limit of keys, which the hint names.",
  access: { role: "admin", inEnvironment: true },
  body: closed({
    name: ApiKeyName,
    scopes: Scopes,
    environment: Type.Optional(
      OneOf(environments, {
        description: `The environment that the key belongs to. Default: that of the request, \`${environmentHeader}\`, or \`${environments[0]}\`.`,
      }),
    ),
  }),
  reply: { status: 201, data: CreatedApiKey },
  errors: ["CONFLICT"],
});

export const listApiKeys = route("GET /v1/auth/api-keys", {
  id: "listApiKeys",
  summary: "List API keys",
  description:
    "Keys of one environment. `created_by` is the member who made the key, also after they have left: a key works until it is disabled or deleted. It is null once their account is deleted.",
  access: { role: "admin", inEnvironment: true },
  query: pageQuery(UuidOf<ApiKeyId>(), {}),
  reply: { status: 200, list: ApiKey },
});

export const updateApiKey = route("PATCH /v1/auth/api-keys/:id", {
  id: "updateApiKey",
  summary: "Rename, rescope, disable or enable an API key",
  description: "Takes effect on the next request with the key, on every server process.",
  access: { role: "admin", inEnvironment: true },
  params,
  body: Type.Object(
    {
      name: Type.Optional(ApiKeyName),
      scopes: Type.Optional(Scopes),
      enabled: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  reply: { status: 200, data: ApiKey },
  errors: ["NOT_FOUND"],
});

export const deleteApiKey = route("DELETE /v1/auth/api-keys/:id", {
  id: "deleteApiKey",
  summary: "Delete an API key",
  description: "Immediate and irreversible.",
  access: { role: "admin", inEnvironment: true },
  params,
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const apiKeyRoutes = route.declared;
