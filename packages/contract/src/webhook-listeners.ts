import { Type } from "typebox";
import { EventId, eventTypes } from "./events.ts";
import { routesOf } from "./route.ts";
import { closed, Nullable, OneOf, open, Text } from "./schema.ts";
import { EndpointId } from "./sessions.ts";
import {
  DeliveryId,
  EndpointName,
  RegisterWebhookKeyBody,
  SigningSecret,
  SubscribedTypes,
  WebhookDelivery,
  WebhookEncryptionKey,
  WebhookEndpoint,
} from "./webhooks.ts";

const route = routesOf("Webhooks");

/** A listener whose stream was not open for so long is removed. */
export const listenerAbsenceMinutes = 60;
/** Streams that one API key, or one user, may have open at one process. */
export const maxListenerStreamsPerCaller = 10;
/** Streams that an organization may have open at one process. */
export const maxListenerStreamsPerOrganization = 100;
/**
 * Open streams per process for all organizations that one account created,
 * so that one person cannot take all.
 */
export const maxListenerStreamsPerCreator = 200;

/** Errors that a listener reports if the receiver behind it sent no status. */
export const answerErrors = [
  "timeout",
  "name_not_resolved",
  "connection_failed",
  "tls_failed",
  "response_invalid",
] as const;

export const listenerMessageTypes = ["ready", "delivery", "ended"] as const;
/** `closing`: the process ends, and the stream may be opened again at once. */
export const listenerEndReasons = ["taken_over", "removed", "closing"] as const;
export type ListenerEndReason = (typeof listenerEndReasons)[number];

export const ListenerDelivery = open("ListenerDelivery", {
  delivery_id: DeliveryId,
  event_id: EventId,
  event_type: OneOf(eventTypes),
  lease: Type.Integer({
    minimum: 1,
    description: "Repeat it in the answer, so that a late answer is recognized.",
  }),
  attempt: Type.Integer({ minimum: 1, description: "Which try of the running schedule this is." }),
  headers: Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    description: "The headers that a URL would get.",
  }),
  body: Type.String({ description: "The body that a URL would get: a compact JWE." }),
});

export const ListenerMessage = open("ListenerMessage", {
  type: OneOf(listenerMessageTypes),
  endpoint_id: EndpointId,
  environment: OneOf(["sandbox", "live"]),
  waiting: Nullable(Type.Integer({ description: "With `ready`: deliveries that wait, counted up to 1000." })),
  delivery: Nullable(ListenerDelivery),
  reason: Nullable(OneOf(listenerEndReasons)),
});

export const CreatedWebhookListener = open("CreatedWebhookListener", {
  endpoint: WebhookEndpoint,
  signing_secret: SigningSecret,
  encryption_key: WebhookEncryptionKey,
});

const listenerParams = closed({ endpoint_id: EndpointId });

export const registerListener = route("POST /v1/webhooks/listeners", {
  id: "registerWebhookListener",
  summary: "Register a listener",
  description: `An endpoint without a URL, for development. A program on your machine, such as \`assay listen\`, opens a stream and gets its deliveries, so that nothing must be reachable from the internet. It is listed among the endpoints with \`kind\` \`listener\`. While its stream is closed its deliveries wait and use up no try; after ${listenerAbsenceMinutes} minutes without a stream it is removed. Delete it like any endpoint. The signing secret is shown only here. 409 \`CONFLICT\` when the organization has reached its limit of endpoints.`,
  access: { scope: "webhooks:write" },
  body: closed({
    encryption_key: RegisterWebhookKeyBody,
    name: Type.Optional(EndpointName),
    subscribed_event_types: Type.Optional(SubscribedTypes),
  }),
  reply: { status: 201, data: CreatedWebhookListener },
  errors: ["CONFLICT"],
});

export const streamListenerDeliveries = route("GET /v1/webhooks/listeners/:endpoint_id/stream", {
  id: "streamWebhookListenerDeliveries",
  summary: "Receive the deliveries of a listener",
  description: `Server-sent events, each named by its \`type\`. \`ready\` comes first. \`delivery\` carries the request that a URL would get, and waits 15 seconds for the answer. \`ended\` says why the stream closes. A comment comes every 15 seconds. A listener has one stream: a newer one takes its place, at any process. Deliveries that were not answered when the stream closes are sent again through the next one. The stream also ends at once when the key is disabled, deleted or loses the scope, or the member is removed. Limits at one process, else 409 \`LISTENER_LIMIT_REACHED\`: ${maxListenerStreamsPerCaller} streams of one key, ${maxListenerStreamsPerOrganization} of one organization, and ${maxListenerStreamsPerCreator} of all organizations that the same account created.`,
  access: { scope: "webhooks:write", whileFrozen: "refused" },
  params: listenerParams,
  reply: { status: 200, events: ListenerMessage },
  errors: ["NOT_FOUND", "LISTENER_LIMIT_REACHED"],
});

export const answerListenerDelivery = route(
  "POST /v1/webhooks/listeners/:endpoint_id/deliveries/:delivery_id/answer",
  {
    id: "answerWebhookListenerDelivery",
    summary: "Answer a delivery of a listener",
    description:
      "What the receiver behind the listener answered: a status, or why there was none. It counts like the answer of a URL, retries included. The reply is the updated delivery. 409 `DELIVERY_NOT_WAITING` when the delivery has timed out, was answered, or is being sent again.",
    access: { scope: "webhooks:write" },
    params: closed({ endpoint_id: EndpointId, delivery_id: DeliveryId }),
    body: closed("AnswerListenerDeliveryBody", {
      lease: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "That of the delivery." }),
      status_code: Type.Optional(
        Type.Integer({ minimum: 200, maximum: 599, description: "Either this or `error`.", examples: [200] }),
      ),
      error: Type.Optional(OneOf(answerErrors)),
      retry_after: Type.Optional(
        Text({ max: 100, description: "The header `Retry-After` of the answer.", examples: ["120"] }),
      ),
    }),
    reply: { status: 200, data: WebhookDelivery },
    errors: ["NOT_FOUND", "DELIVERY_NOT_WAITING"],
    examples: { body: { lease: 1, status_code: 200 } },
  },
);

export const webhookListenerRoutes = route.declared;
