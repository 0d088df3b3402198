import type { TSchema } from "typebox";
import { idempotencyLimits } from "./facts.ts";
import { Pagination } from "./page.ts";
import {
  honoursIdempotencyKey,
  isWrite,
  type Method,
  type Reply,
  type RouteDefinition,
  type Scope,
} from "./route.ts";

/**
 * Tools for agents (Model Context Protocol, MCP). Every route that an API key may call is a tool of the same
 * name. Arguments, answers and hints are derived from the route.
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonSchema = { [keyword: string]: Json };

/** A tool as the protocol lists it, plus the scope that a key needs and the schema of its answer. */
export type AgentTool = {
  name: string;
  title: string;
  description: string;
  scope: Scope;
  /** Decides who reads results, so the organization must allow it to agents besides. */
  changesDestination: boolean;
  inputSchema: JsonSchema;
  /** Null for a tool without an answer. */
  outputSchema: JsonSchema | null;
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean };
};

export type RouteTool = AgentTool & { route: RouteDefinition };

/** The source of a tool: a route, or a similar declaration for agents only. */
export type ToolDeclaration = Omit<RouteDefinition, "access" | "path" | "tag" | "errors"> & {
  access: { scope: Scope };
};

const decidedByPartner =
  "The partner decides what later sessions ask people for; an agent uses the existing templates.";

/** Routes that a key may call and an agent may not, and why. */
export const routesWithoutTool: Readonly<Record<string, string>> = {
  getSessionTemplate: "`listSessionTemplates` shows the same.",
  createSessionTemplate: decidedByPartner,
  updateSessionTemplate: decidedByPartner,
  deleteSessionTemplate: decidedByPartner,
  retryFailedWebhookDeliveries:
    "It sends hundreds of deliveries at once. An agent retries a single delivery with `retryWebhookDelivery`, or an event with `replayWebhookEvent`.",
  rotateWebhookSigningSecret:
    "Its answer is a secret, and the old one stops at once. A person must install the new one.",
  registerWebhookListener: "A listener needs the private key and an open stream, so it is for programs.",
  streamWebhookListenerDeliveries:
    "A stream that stays open, whose deliveries are for the program that holds the key.",
  answerWebhookListenerDelivery:
    "It reports how a receiver answered, which only the forwarding program knows.",
};

/** Tools that decide where results go, and to whose key they are encrypted. */
const destinationTools: ReadonlySet<string> = new Set([
  "createWebhookEndpoint",
  "updateWebhookEndpoint",
  "registerWebhookKey",
  "deactivateWebhookKey",
  "reactivateWebhookKey",
]);

/**
 * Secrets that a write returns once, and texts that a receiver or a person wrote. No tool returns them, at
 * any depth, because a model reads the answer and the conversation keeps it.
 */
export const withheldFields: Readonly<Record<string, string>> = {
  jwe: "Only the holder of the private key can read it.",
  receiver_answer: "Another server wrote it; the dashboard shows it.",
  request_headers: "The signatures are among them; the dashboard shows them.",
  cancel_token: "It lets its holder act in the person's name; `cancelSession` cancels in yours.",
  signing_secret: "An owner of the organization reads it in the dashboard.",
};

/** The argument that becomes the header `Idempotency-Key`. */
export const idempotencyArgument = "idempotency_key";

/** The argument of `createSession` by which an agent makes sure that it makes no live session. */
export const sandboxArgument = "sandbox";

/**
 * Replaces the route's description for a model: when to use the tool, what comes before and after, how to
 * narrow. A model has no use for statuses and headers.
 */
export const toolTexts: Readonly<Record<string, string>> = {
  createSession:
    "First step of every verification. Send the person to the `verification_url` of the answer, then read the outcome with `getSession`. For a test pass `sandbox: true` and end the session with `finishSandboxSession`. Ask only for the `share_fields` that you need.",
  listSessions:
    "Finds sessions, newest first. Narrow by `status`, period, `client_reference_id`, its prefix, or one entry of `metadata`. For a session whose id you know use `getSession`.",
  listAttempts:
    "Shows which devices tried and why a try failed. Give `session_id` when `getSession` says `failed`, or when a session does not move.",
  getSession:
    "Reads one session: `status`, `failure_code`, what the person agreed to. Call it after `createSession` until `status` is neither `created` nor `in_progress`. No claims are in it.",
  cancelSession:
    "Stops a session that has not ended; repeating it changes nothing. Refused while a device is at work, and after success or failure.",
  listSessionTemplates: "`createSession` takes their `id` or `name` as `template`.",
  sessionsOverview:
    "Totals and days: outcomes, success rate, time to complete, failure codes. For questions about many sessions; `listSessions` has single ones.",
  webhooksOverview:
    "The state of deliveries. Start here when events do not arrive, then narrow down with `listWebhookDeliveries`.",
  createWebhookEndpoint:
    "Adds an address that receives outcomes. Next call `registerWebhookKey`, since nothing is sent without a key, then `testWebhookEndpoint`.",
  listWebhookEndpoints:
    "Finds endpoints. `enabled: false` gives those that are switched off, with `disabled_reason`.",
  getWebhookEndpoint: "Reads one endpoint: address, subscribed types, and why it is disabled.",
  updateWebhookEndpoint:
    "Changes an endpoint, or enables it again after its receiver was fixed. A disabled endpoint keeps its waiting deliveries. Give at least one field.",
  deleteWebhookEndpoint:
    "Removes an endpoint and its waiting deliveries for good. To pause it, use `updateWebhookEndpoint` with `enabled: false`.",
  testWebhookEndpoint:
    "Sends a test event to one endpoint. Use it after a change of address or key, then look at `listWebhookDeliveries` with its `endpoint_id`.",
  registerWebhookKey:
    "Gives an endpoint the public RSA key, of 2048 bits or more, that its events are encrypted to. The key that was activated last is used. Never send a private key.",
  listWebhookKeys: "The encryption keys of an endpoint. Read it before you deactivate one.",
  deactivateWebhookKey:
    "Stops encrypting to a key. Register its successor first. Events that are already encrypted are still delivered.",
  reactivateWebhookKey: "Encrypts to a deactivated key again.",
  listWebhookDeliveries:
    "Finds deliveries, newest first. Narrow by `status` (`failed`: no more tries), `endpoint_id`, `event_id` or period.",
  getWebhookDelivery:
    "One delivery with each try: status, error, duration. Shows why a receiver did not accept it.",
  retryWebhookDelivery: "Retries a failed or waiting delivery at once. Fix the receiver first.",
  listWebhookEvents:
    "Finds events, newest first. Narrow by `type`, `session_id` or period. What an event holds is in its encrypted deliveries only.",
  getWebhookEvent: "Reads one event; `listWebhookDeliveries` with `event_id` says where it went.",
  replayWebhookEvent:
    "Sends an event again to each endpoint that has not accepted it. For one endpoint use `retryWebhookDelivery`.",
};

/** The tools of these routes, in their order. */
export function toolsOf(routes: readonly RouteDefinition[]): RouteTool[] {
  return routes.flatMap((route) => {
    const { access } = route;
    if (!("scope" in access) || route.id in routesWithoutTool) return [];
    return [{ ...describeTool({ ...route, access }), route }];
  });
}

export function describeTool(declared: ToolDeclaration): AgentTool {
  const { reply } = declared;
  const answer = answerOf(reply);
  const withheld = Object.keys(withheldFields).filter((name) => declares(answer, name));
  return {
    name: declared.id,
    title: declared.summary,
    description: [
      `${declared.summary}.`,
      toolTexts[declared.id] ?? declared.description,
      ...withheld.map((name) => `This tool withholds \`${name}\`. ${withheldFields[name]}`),
    ]
      .filter((text) => text !== undefined)
      .join(" "),
    scope: declared.access.scope,
    changesDestination: destinationTools.has(declared.id),
    inputSchema: inputOf(declared),
    outputSchema: answer === null ? null : plain(answer, outputOnly),
    annotations: {
      readOnlyHint: !isWrite(declared),
      destructiveHint: isWrite(declared) && !adds(reply),
      idempotentHint: isRepeatable(declared.method, reply),
    },
  };
}

/** A write that answers 201 or 202 adds something; every other one may take something away. */
function adds(reply: Reply): boolean {
  return reply.status === 201 || reply.status === 202;
}

function isRepeatable(method: Method, reply: Reply): boolean {
  return method !== "POST" || !adds(reply);
}

/** Path, query and body as the arguments of one call. */
function inputOf(route: ToolDeclaration): JsonSchema {
  const properties: { [name: string]: Json } = {};
  const required: string[] = [];
  const body = route.body as { properties?: Record<string, TSchema>; required?: string[] } | undefined;
  for (const part of [route.params, route.query, body]) {
    for (const [name, schema] of Object.entries(part?.properties ?? {})) {
      if (name in properties || name === idempotencyArgument)
        throw new Error(`${route.id} has two arguments named ${name}`);
      properties[name] = plain(schema, inputToo);
    }
    required.push(...((part?.required as string[] | undefined) ?? []));
  }
  if (route.id === "createSession")
    properties[sandboxArgument] = {
      type: "boolean",
      description:
        "True: refuse instead of making a live session. The key decides which of the two it makes.",
    };
  if (honoursIdempotencyKey(route))
    properties[idempotencyArgument] = {
      type: "string",
      minLength: 1,
      maxLength: idempotencyLimits.keyCharacters,
      description: `Visible ASCII characters of your choice. The same key and arguments within ${idempotencyLimits.keptHours} hours give the first answer again instead of doing it twice.`,
    };
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** The envelope of the route without `error`. */
function answerOf(reply: Reply): object | null {
  if ("list" in reply)
    return {
      type: "object",
      properties: { data: { type: "array", items: reply.list }, pagination: Pagination },
      required: ["data", "pagination"],
    };
  if ("data" in reply) return { type: "object", properties: { data: reply.data }, required: ["data"] };
  return null;
}

const inputToo = new Set(["title"]);
/** A model reads the answer itself; sentences about it would be sent to it with every list of tools. */
const outputOnly = new Set(["title", "description", "examples", "default"]);

/**
 * The pattern of an identifier helps a model;
 * a long list of forbidden characters does not. The route checks both.
 */
const maxPatternLength = 100;

/** Keywords whose value is no schema, whatever it looks like. */
const dataKeywords = new Set(["default", "const", "enum", "examples"]);

/**
 * Copies a schema without the marks of the schema library, the keywords in `leftOut` and the withheld fields.
 */
function plain(schema: unknown, leftOut: ReadonlySet<string>): JsonSchema {
  const copy: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(schema as object)) {
    if (name.startsWith("~") || leftOut.has(name)) continue;
    if (name === "pattern" && String(value).length > maxPatternLength) continue;
    // The pattern makes the example redundant.
    if (name === "examples" && "pattern" in (schema as object)) continue;
    if (dataKeywords.has(name)) copy[name] = value as Json;
    else if (name === "properties")
      copy[name] = Object.fromEntries(
        Object.entries(value as object)
          .filter(([field]) => !(field in withheldFields))
          .map(([field, inner]) => [field, plain(inner, leftOut)]),
      );
    else if (name === "required")
      copy[name] = (value as string[]).filter((field) => !(field in withheldFields));
    else if (Array.isArray(value))
      copy[name] = value.map((entry) => (isObject(entry) ? plain(entry, leftOut) : entry));
    else copy[name] = isObject(value) ? plain(value, leftOut) : (value as Json);
  }
  return leftOut === inputToo ? withAlikeFieldsOnce(copy) : copy;
}

/** A text in each of many languages is one field and a list of names. */
function withAlikeFieldsOnce(schema: JsonSchema): JsonSchema {
  const { properties, ...rest } = schema;
  const fields = Object.entries(isObject(properties) ? properties : {}) as [string, JsonSchema][];
  const [first] = fields;
  const isAlike = new Set(fields.map(([, field]) => JSON.stringify(field))).size === 1;
  if (first === undefined || fields.length < 10 || !isAlike || schema.required !== undefined) return schema;
  return { ...rest, propertyNames: { enum: fields.map(([name]) => name) }, additionalProperties: first[1] };
}

/** Whether a field of this name is declared anywhere in the schema. */
function declares(schema: unknown, field: string): boolean {
  if (!isObject(schema)) return Array.isArray(schema) && schema.some((entry) => declares(entry, field));
  return Object.entries(schema).some(
    ([name, value]) => (name === "properties" && field in (value as object)) || declares(value, field),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
