import { Type } from "typebox";
import { EventId, eventQuery, eventTypes, WebhookEvent } from "./events.ts";
import { environments } from "./facts.ts";
import type { OrganizationId } from "./ids.ts";
import { partnerPageQuery } from "./page.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, PrefixedId, Text, Timestamp, UuidOf } from "./schema.ts";
import { countsOf, EndpointId, maxCounted } from "./sessions.ts";

const route = routesOf("Webhooks");

export const EncryptionKeyId = PrefixedId("whk", "webhook encryption key");
export const DeliveryId = PrefixedId("whd", "webhook delivery");
const AttemptId = PrefixedId("wha", "webhook delivery attempt");

export const payloadRetentionHours = [0, 24, 72, 168] as const;
export type PayloadRetentionHours = (typeof payloadRetentionHours)[number];
export const defaultPayloadRetentionHours: PayloadRetentionHours = 72;

/** A URL that is sent to, or a program that fetches its deliveries through a stream. */
export const endpointKinds = ["url", "listener"] as const;
export type EndpointKind = (typeof endpointKinds)[number];

/** Why an endpoint is disabled. */
export const disabledReasons = ["disabled_by_request", "endpoint_gone", "no_success_for_5_days"] as const;
export type DisabledReason = (typeof disabledReasons)[number];

export const deliveryStatuses = ["pending", "delivering", "succeeded", "failed"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Why an attempt, or a whole delivery, failed. */
export const deliveryErrors = [
  "status_not_2xx",
  "redirect_not_followed",
  "timeout",
  "name_not_resolved",
  "address_refused",
  "connection_failed",
  "tls_failed",
  "response_invalid",
  "no_active_key",
  "endpoint_deleted",
  "consent_withdrawn",
] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

export const EndpointName = Text({ max: 120, description: "For display only.", examples: ["Production"] });
/** In a request null clears the name. */
const ClearableName = Type.Unsafe<string | null>(Nullable(EndpointName));
const EndpointUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description:
    "Must start with `https://`, hold no credentials and lead to a public address. Redirects are not followed.",
  examples: ["https://partner.example.com/webhooks/identity"],
});
const RetentionHours = Type.Unsafe<PayloadRetentionHours>({
  type: "integer",
  enum: [...payloadRetentionHours],
  default: defaultPayloadRetentionHours,
  description:
    "How long the encrypted payload of a failed delivery is kept for a manual retry; 0 does not keep it.",
});
export const SubscribedTypes = Type.Array(OneOf(eventTypes), {
  uniqueItems: true,
  maxItems: 100,
  description: "The types that the endpoint receives. Absent: all of them; empty: none.",
  examples: [["verification.session.succeeded", "verification.session.failed"]],
});

export const WebhookEndpoint = open("WebhookEndpoint", {
  id: EndpointId,
  organization_id: UuidOf<OrganizationId>(),
  environment: OneOf(environments, {
    description: "The environment whose events the endpoint receives: that of its creator.",
  }),
  name: Nullable(EndpointName),
  kind: OneOf(endpointKinds),
  url: Type.String({
    maxLength: 2048,
    description: "Where deliveries go. For a listener, `listener:` and its id.",
    examples: ["https://partner.example.com/webhooks/identity"],
  }),
  enabled: Type.Boolean(),
  subscribed_event_types: SubscribedTypes,
  undelivered_payload_retention_hours: RetentionHours,
  has_active_key: Type.Boolean({ description: "Without an active encryption key nothing is sent." }),
  created_at: Timestamp,
  updated_at: Timestamp,
  disabled_at: Nullable(Timestamp),
  disabled_reason: Nullable(OneOf(disabledReasons)),
  last_seen_at: Nullable({
    ...Timestamp,
    description: "When the stream of a listener was last open, to half a minute. Null for a URL.",
  }),
});

export const SigningSecret = Type.String({
  pattern: "^whsec_[A-Za-z0-9+/]{43}=$",
  description: "Key of the signatures that deliveries carry.",
  examples: [`whsec_${"A".repeat(43)}=`],
});

export const CreatedWebhookEndpoint = open("CreatedWebhookEndpoint", {
  endpoint: WebhookEndpoint,
  signing_secret: SigningSecret,
  warnings: Type.Array(
    open("EndpointWarning", {
      code: OneOf(["NO_ACTIVE_KEY"]),
      message: Type.String({ description: "What to do about it." }),
    }),
  ),
});

export const WebhookSigningSecret = open("WebhookSigningSecret", {
  endpoint_id: EndpointId,
  signing_secret: SigningSecret,
});

/** How long the secret before a rotation may keep signing. */
export const maxOverlapHours = 72;

export const RotatedSigningSecret = open("RotatedSigningSecret", {
  endpoint_id: EndpointId,
  signing_secret: SigningSecret,
  previous_secret_until: Nullable({
    ...Timestamp,
    description:
      "Until when deliveries also carry the signature of the previous secret. Null: they no longer do.",
  }),
});

const KeyId = Text({
  max: 100,
  description: "Your own name for the key; it appears as `kid` in the header of what is encrypted to it.",
  examples: ["2026-03"],
});

const Base64Url = (max: number, about: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: max,
    pattern: "^[A-Za-z0-9_-]+$",
    description: about,
    examples: [example],
  });

const jwkFields = {
  kty: OneOf(["RSA"]),
  n: Base64Url(1366, "Modulus, 2048 to 8192 bits.", "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx"),
  e: Base64Url(8, "Exponent, usually AQAB.", "AQAB"),
  alg: OneOf(["RSA-OAEP-256"]),
  use: OneOf(["enc"]),
  kid: KeyId,
};

/** Only public members are listed, so a private key is refused like any other unknown field. */
export const PublicRsaJwk = closed("PublicRsaJwk", jwkFields);

export const WebhookEncryptionKey = open("WebhookEncryptionKey", {
  id: EncryptionKeyId,
  webhook_endpoint_id: EndpointId,
  key_id: KeyId,
  algorithm: OneOf(["RSA-OAEP-256"]),
  key_type: OneOf(["RSA"]),
  jwk: open("WebhookJwk", jwkFields),
  is_active: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
  deactivated_at: Nullable(Timestamp),
});

const deliveryFields = {
  id: DeliveryId,
  event_id: EventId,
  event_type: OneOf(eventTypes),
  webhook_endpoint_id: EndpointId,
  webhook_encryption_key_id: Nullable(EncryptionKeyId),
  status: OneOf(deliveryStatuses),
  attempt_count: Type.Integer({
    minimum: 0,
    description: "Attempts made so far, those before a retry included.",
  }),
  next_attempt_at: Nullable(Timestamp),
  last_status_code: Nullable(Type.Integer()),
  last_error: Nullable(OneOf(deliveryErrors)),
  last_attempt_at: Nullable(Timestamp),
  payload_expires_at: Nullable(Timestamp),
  payload_scrubbed_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const WebhookDelivery = open("WebhookDelivery", deliveryFields);

/** How much of a receiver's answer is kept, to find out why it refused. */
export const answerKeptBytes = 1024;

const ReceiverAnswer = open("ReceiverAnswer", {
  status_line: Type.String({
    description: "Status and reason, as the receiver wrote them.",
    examples: ["500 Internal Server Error"],
  }),
  text: Type.String({
    description: `The first ${answerKeptBytes} bytes of the answer's body, read as UTF-8.`,
    examples: ["database is down"],
  }),
  is_cut: Type.Boolean({ description: "Whether there was more than is shown." }),
});

export const WebhookDeliveryAttempt = open("WebhookDeliveryAttempt", {
  id: AttemptId,
  status_code: Nullable(Type.Integer()),
  error: Nullable(OneOf(deliveryErrors)),
  duration_ms: Type.Integer({ minimum: 0 }),
  attempted_at: Timestamp,
  request_headers: Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    description:
      "The headers that were sent. The signatures are among them for as long as the payload of the delivery is kept.",
  }),
  receiver_answer: {
    ...Nullable(ReceiverAnswer),
    description:
      "What the receiver answered when it did not accept the delivery. Null when there was no answer, for an answer of 2xx, and once the payload of the delivery is gone.",
  },
});

/** The request body as it is sent. Only the holder of the private key can read it. */
export const SealedBody = open("SealedBody", {
  bytes: Type.Integer({ minimum: 1, description: "Length of the body.", examples: [1021] }),
  key_id: KeyId,
  jwe: Type.String({
    description: "The compact JWE itself: only the holder of the private key can read it.",
    examples: ["eyJhbGciOiJSU0EtT0FFUC0yNTYi…"],
  }),
});

export const WebhookDeliveryWithAttempts = open("WebhookDeliveryWithAttempts", {
  ...deliveryFields,
  attempts: Type.Array(WebhookDeliveryAttempt),
  sealed_body: {
    ...Nullable(SealedBody),
    description: "The body of the delivery, for as long as it is kept; null afterwards.",
  },
});

export const EventWithDeliveries = open("EventWithDeliveries", {
  event: WebhookEvent,
  deliveries: Type.Array(WebhookDelivery),
});

export const RegisterWebhookKeyBody = closed("RegisterWebhookKeyBody", {
  key_id: KeyId,
  algorithm: OneOf(["RSA-OAEP-256"]),
  key_type: OneOf(["RSA"]),
  jwk: PublicRsaJwk,
});

export const SentTestEvent = open("SentTestEvent", {
  event: WebhookEvent,
  deliveries: Type.Array(WebhookDelivery),
  sealed_body: {
    ...Nullable(SealedBody),
    description:
      "What is being sent, so that it can be opened here and now; null when the endpoint has no active key.",
  },
});

const endpointParams = closed({ endpoint_id: EndpointId });
const deliveryParams = closed({ delivery_id: DeliveryId });
const eventParams = closed({ event_id: EventId });
const read = { scope: "webhooks:read" } as const;
const write = { scope: "webhooks:write" } as const;
// Going live needs an endpoint that can receive results, so users set it up before.
const readBeforeLive = { ...read, beforeLive: true } as const;
const writeBeforeLive = { ...write, beforeLive: true } as const;

export const createEndpoint = route("POST /v1/webhooks/endpoints", {
  id: "createWebhookEndpoint",
  summary: "Create a webhook endpoint",
  description:
    "Nothing is sent until an encryption key is registered for the endpoint. 409 `CONFLICT` when the organization has reached its limit of endpoints, which the hint names.",
  access: writeBeforeLive,
  body: closed({
    url: EndpointUrl,
    name: Type.Optional(ClearableName),
    undelivered_payload_retention_hours: Type.Optional(RetentionHours),
    subscribed_event_types: Type.Optional(SubscribedTypes),
  }),
  reply: { status: 201, data: CreatedWebhookEndpoint },
  errors: ["WEBHOOK_URL_REJECTED", "CONFLICT"],
});

export const listEndpoints = route("GET /v1/webhooks/endpoints", {
  id: "listWebhookEndpoints",
  summary: "List webhook endpoints",
  access: readBeforeLive,
  query: partnerPageQuery(EndpointId, { enabled: Type.Optional(Type.Boolean()) }),
  reply: { status: 200, list: WebhookEndpoint },
});

export const getEndpoint = route("GET /v1/webhooks/endpoints/:endpoint_id", {
  id: "getWebhookEndpoint",
  summary: "Read a webhook endpoint",
  access: readBeforeLive,
  params: endpointParams,
  reply: { status: 200, data: WebhookEndpoint },
  errors: ["NOT_FOUND"],
});

export const updateEndpoint = route("PATCH /v1/webhooks/endpoints/:endpoint_id", {
  id: "updateWebhookEndpoint",
  summary: "Change, disable or enable a webhook endpoint",
  description:
    "A disabled endpoint holds its pending deliveries without using up tries; they go on when it is enabled again. A listener cannot be given a URL.",
  access: writeBeforeLive,
  params: endpointParams,
  body: Type.Object(
    {
      name: Type.Optional(ClearableName),
      url: Type.Optional(EndpointUrl),
      enabled: Type.Optional(Type.Boolean()),
      subscribed_event_types: Type.Optional(SubscribedTypes),
      undelivered_payload_retention_hours: Type.Optional(RetentionHours),
    },
    { additionalProperties: false, minProperties: 1 },
  ),
  reply: { status: 200, data: WebhookEndpoint },
  errors: ["NOT_FOUND", "WEBHOOK_URL_REJECTED"],
});

export const deleteEndpoint = route("DELETE /v1/webhooks/endpoints/:endpoint_id", {
  id: "deleteWebhookEndpoint",
  summary: "Delete a webhook endpoint",
  description: "Retries stop and payloads are scrubbed. Past deliveries stay listed.",
  access: writeBeforeLive,
  params: endpointParams,
  reply: { status: 204 },
  errors: ["NOT_FOUND"],
});

export const revealSecret = route("POST /v1/webhooks/endpoints/:endpoint_id/signing-secret/reveal", {
  id: "revealWebhookSigningSecret",
  summary: "Reveal the signing secret",
  description: "Needs the role owner, so API keys cannot. Every reveal is written to the audit log.",
  access: { role: "owner", inEnvironment: true },
  params: endpointParams,
  reply: { status: 200, data: WebhookSigningSecret },
  errors: ["NOT_FOUND"],
});

export const rotateSecret = route("POST /v1/webhooks/endpoints/:endpoint_id/signing-secret/rotate", {
  id: "rotateWebhookSigningSecret",
  summary: "Replace the signing secret",
  description:
    "The next send, retries included, is signed with the new secret. The old secret stops at once, unless `overlap_hours` keeps it for a while. Then each header has both signatures, separated by a space, the newest first. Only the last two secrets ever sign.",
  access: write,
  params: endpointParams,
  body: closed({
    overlap_hours: Type.Optional(
      Type.Integer({ minimum: 0, maximum: maxOverlapHours, default: 0, examples: [24] }),
    ),
  }),
  bodyOptional: true,
  reply: { status: 200, data: RotatedSigningSecret },
  errors: ["NOT_FOUND"],
});

export const testEndpoint = route("POST /v1/webhooks/endpoints/:endpoint_id/test", {
  id: "testWebhookEndpoint",
  summary: "Send a test event",
  description:
    "Sends an event to this endpoint only, whatever types it subscribes to: `webhook.endpoint.test`, or in the sandbox a sample of the type that you name, which belongs to no session. 409 `CONFLICT` when the organization has reached its limit per minute, which the hint names.",
  access: write,
  params: endpointParams,
  body: closed({
    event_type: Type.Optional(
      OneOf(eventTypes, { description: "The type of the sample. Default: `webhook.endpoint.test`." }),
    ),
  }),
  bodyOptional: true,
  reply: { status: 202, data: SentTestEvent },
  errors: ["NOT_FOUND", "ENDPOINT_DISABLED", "SAMPLE_NOT_IN_LIVE", "CONFLICT"],
  idempotent: true,
});

export const registerKey = route("POST /v1/webhooks/endpoints/:endpoint_id/keys", {
  id: "registerWebhookKey",
  summary: "Register an encryption key",
  description:
    "A public RSA key of at least 2048 bits. The private key never leaves you. With several active keys the most recently activated one is used.",
  access: writeBeforeLive,
  params: endpointParams,
  body: RegisterWebhookKeyBody,
  reply: { status: 201, data: WebhookEncryptionKey },
  errors: ["NOT_FOUND", "CONFLICT"],
});

export const listKeys = route("GET /v1/webhooks/endpoints/:endpoint_id/keys", {
  id: "listWebhookKeys",
  summary: "List the encryption keys of an endpoint",
  access: readBeforeLive,
  params: endpointParams,
  query: partnerPageQuery(EncryptionKeyId, {}),
  reply: { status: 200, list: WebhookEncryptionKey },
  errors: ["NOT_FOUND"],
});

const keyParams = closed({
  key_id: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "The `whk_` id, or your own `key_id` when only one key of the organization has it.",
  }),
});

export const deactivateKey = route("POST /v1/webhooks/keys/:key_id/deactivate", {
  id: "deactivateWebhookKey",
  summary: "Stop encrypting to a key",
  description: "What was already encrypted to it is still delivered. Repeating it changes nothing.",
  access: writeBeforeLive,
  params: keyParams,
  reply: { status: 200, data: WebhookEncryptionKey },
  errors: ["NOT_FOUND", "CONFLICT"],
});

export const reactivateKey = route("POST /v1/webhooks/keys/:key_id/reactivate", {
  id: "reactivateWebhookKey",
  summary: "Encrypt to a key again",
  description: "Repeating it changes nothing.",
  access: writeBeforeLive,
  params: keyParams,
  reply: { status: 200, data: WebhookEncryptionKey },
  errors: ["NOT_FOUND", "CONFLICT"],
});

export const listDeliveries = route("GET /v1/webhooks/deliveries", {
  id: "listWebhookDeliveries",
  summary: "List deliveries",
  access: read,
  query: partnerPageQuery(DeliveryId, {
    status: Type.Optional(OneOf(deliveryStatuses)),
    endpoint_id: Type.Optional(EndpointId),
    event_id: Type.Optional(EventId),
    created_from: Type.Optional(Timestamp),
    created_to: Type.Optional(Timestamp),
  }),
  reply: { status: 200, list: WebhookDelivery },
});

export const countedDeliveries = ["pending", "succeeded", "failed"] as const;

export const countDeliveries = route("GET /v1/auth/orgs/delivery-counts", {
  id: "countWebhookDeliveries",
  summary: "Count deliveries by status",
  description: `For the tabs of a list. Each count stops at ${maxCounted}.`,
  access: { role: "member", inEnvironment: true },
  query: closed({
    endpoint_id: Type.Optional(EndpointId),
    created_from: Type.Optional(Timestamp),
    created_to: Type.Optional(Timestamp),
  }),
  reply: { status: 200, data: countsOf("DeliveryCountsByStatus", countedDeliveries) },
  errors: ["PERIOD_INVALID"],
});

export const getDelivery = route("GET /v1/webhooks/deliveries/:delivery_id", {
  id: "getWebhookDelivery",
  summary: "Read a delivery with its attempts",
  access: read,
  params: deliveryParams,
  reply: { status: 200, data: WebhookDeliveryWithAttempts },
  errors: ["NOT_FOUND"],
});

export const retryDelivery = route("POST /v1/webhooks/deliveries/:delivery_id/retry", {
  id: "retryWebhookDelivery",
  summary: "Retry a delivery",
  description:
    "Sends again at once and restarts the schedule of tries. A disabled endpoint holds the delivery until it is enabled.",
  access: write,
  params: deliveryParams,
  reply: { status: 202, data: WebhookDelivery },
  errors: ["NOT_FOUND", "CONFLICT", "WEBHOOK_PAYLOAD_EXPIRED"],
});

/** Deliveries that one call retries. More, and the transaction holds their rows for longer. */
export const maxRetriedAtOnce = 500;
const maxRetryDays = 31;

export const retryFailed = route("POST /v1/webhooks/endpoints/:endpoint_id/retry-failed", {
  id: "retryFailedWebhookDeliveries",
  summary: "Retry the failed deliveries of an endpoint",
  description: `Retries each failed delivery that was created in the period and whose payload is still there, the oldest first, at most ${maxRetriedAtOnce} in one call. Repeat the call while \`has_more\` is true. A delivery that was retried is no longer failed, so repeating a call sends nothing twice. The period may have at most ${maxRetryDays} days.`,
  access: write,
  params: endpointParams,
  body: closed({
    created_from: { ...Timestamp, description: "Created at or after this time." },
    created_to: { ...Timestamp, description: "Created at or before this time." },
  }),
  reply: {
    status: 202,
    data: open("RetriedDeliveries", {
      retried: Type.Integer({
        minimum: 0,
        maximum: maxRetriedAtOnce,
        description: "Deliveries that are sent again.",
      }),
      has_more: Type.Boolean({ description: "Whether the period has more failed deliveries to retry." }),
    }),
  },
  errors: ["NOT_FOUND", "PERIOD_INVALID"],
  idempotent: true,
});
export const maxRetryPeriodMs = maxRetryDays * 24 * 60 * 60 * 1000;

export const listEvents = route("GET /v1/webhooks/events", {
  id: "listWebhookEvents",
  summary: "List events",
  access: read,
  query: eventQuery,
  reply: { status: 200, list: WebhookEvent },
});

export const getEvent = route("GET /v1/webhooks/events/:event_id", {
  id: "getWebhookEvent",
  summary: "Read an event",
  access: read,
  params: eventParams,
  reply: { status: 200, data: WebhookEvent },
  errors: ["NOT_FOUND"],
});

export const replayEvent = route("POST /v1/webhooks/events/:event_id/replay", {
  id: "replayWebhookEvent",
  summary: "Replay an event",
  description:
    "Retries each delivery of the event whose payload is still there. Delivered payloads are gone, so they cannot be replayed.",
  access: write,
  params: eventParams,
  reply: { status: 202, data: EventWithDeliveries },
  errors: ["NOT_FOUND", "CONFLICT", "WEBHOOK_PAYLOAD_EXPIRED"],
});

export const webhookRoutes = route.declared;
