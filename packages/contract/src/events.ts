import { type Static, type TSchema, Type } from "typebox";
import { triesAllowed } from "./facts.ts";
import { partnerPageQuery } from "./page.ts";
import { Nullable, OneOf, open, PrefixedId, Timestamp } from "./schema.ts";
import {
  cancelReasons,
  EndpointId,
  Evidence,
  failureCodes,
  ReturnCodeSha256,
  SessionId,
  UnmetRequirement,
} from "./sessions.ts";

/** Every type of event that an endpoint can subscribe to. New ones may be added at any time. */
export const eventTypes = [
  "verification.session.succeeded",
  "verification.session.failed",
  "verification.session.expired",
  "verification.session.cancelled",
  "webhook.endpoint.test",
] as const;
export type EventType = (typeof eventTypes)[number];

export const EventId = PrefixedId("evt", "event");

/** An event as listed. Only the sealed deliveries have its content. */
export const WebhookEvent = open("Event", {
  id: EventId,
  type: OneOf(eventTypes),
  session_id: Nullable(SessionId),
  sandbox: Type.Boolean(),
  contract_version: Nullable(Type.Integer()),
  client_reference_id: Nullable(Type.String()),
  created_at: Timestamp,
  retracted_at: {
    ...Nullable(Timestamp),
    description:
      "When the person withdrew their consent before any endpoint had received this event. The event is no longer sent; a `verification.session.cancelled` with `consent_withdrawn` replaces it. Exactly one final event per session is not retracted.",
  },
});

export const eventQuery = partnerPageQuery(EventId, {
  type: Type.Optional(OneOf(eventTypes)),
  session_id: Type.Optional(SessionId),
  created_from: Type.Optional(Timestamp),
  created_to: Type.Optional(Timestamp),
});

const TriesUsed = Type.Integer({ minimum: 0, maximum: triesAllowed });
const tries = { nfc_tries_used: TriesUsed, liveness_tries_used: TriesUsed };
const returned = { return_code_sha256: ReturnCodeSha256 };

/** The `data` of the decrypted event, by type. */
export const eventData = {
  "verification.session.succeeded": open("SessionSucceededData", {
    claims: Type.Record(Type.String(), Type.Unknown(), {
      description: "The claims that the person agreed to share; declined ones are absent.",
    }),
    selected_field_keys: Type.Array(Type.String()),
    evidence: Evidence,
    ...returned,
  }),
  "verification.session.failed": open("SessionFailedData", {
    failure_code: OneOf(failureCodes),
    unmet_requirement: UnmetRequirement,
    ...tries,
    ...returned,
  }),
  "verification.session.expired": open("SessionExpiredData", { ...tries, ...returned }),
  "verification.session.cancelled": open("SessionCancelledData", {
    outcome: OneOf(["not_verified"]),
    reason: OneOf(cancelReasons),
    ...tries,
    ...returned,
  }),
  "webhook.endpoint.test": open("EndpointTestData", { webhook_endpoint_id: EndpointId }),
} as const satisfies Record<EventType, TSchema>;
export type EventData<T extends EventType> = Static<(typeof eventData)[T]>;

const EventMetadata = open("EventMetadata", {
  event_id: EventId,
  verification_session_id: Nullable(SessionId),
  contract_version: Nullable(Type.Integer()),
  client_reference_id: Nullable(Type.String()),
});

function payloadOf<T extends EventType>(name: string, type: T) {
  return open(name, {
    id: EventId,
    type: OneOf([type]),
    created_at: Timestamp,
    sandbox: Type.Boolean(),
    metadata: EventMetadata,
    data: eventData[type],
  });
}

/** The decrypted body of a delivery, by event type. */
export const eventPayloads = {
  "verification.session.succeeded": payloadOf("SessionSucceededEvent", "verification.session.succeeded"),
  "verification.session.failed": payloadOf("SessionFailedEvent", "verification.session.failed"),
  "verification.session.expired": payloadOf("SessionExpiredEvent", "verification.session.expired"),
  "verification.session.cancelled": payloadOf("SessionCancelledEvent", "verification.session.cancelled"),
  "webhook.endpoint.test": payloadOf("EndpointTestEvent", "webhook.endpoint.test"),
} as const satisfies Record<EventType, TSchema>;
export type EventPayload<T extends EventType> = Static<(typeof eventPayloads)[T]>;

const summaries: Record<EventType, string> = {
  "verification.session.succeeded": "A person was verified",
  "verification.session.failed": "A verification failed",
  "verification.session.expired": "A session ran out of time",
  "verification.session.cancelled": "A session was cancelled, or consent was withdrawn",
  "webhook.endpoint.test": "A test of the endpoint",
};

export const webhookDescriptions: readonly { type: EventType; summary: string; schema: TSchema }[] =
  eventTypes.map((type) => ({ type, summary: summaries[type], schema: eventPayloads[type] }));
