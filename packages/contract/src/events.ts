import { type TSchema, Type } from "typebox";
import { Nullable, named, OneOf, open, PrefixedId, Timestamp } from "./schema.ts";

/** Every type of event that an endpoint can subscribe to. New ones may be added at any time. */
export const eventTypes = [
  "verification.session.succeeded",
  "verification.session.failed",
  "verification.session.expired",
  "verification.session.cancelled",
  "webhook.endpoint.test",
] as const;
export type EventType = (typeof eventTypes)[number];

const tries = {
  nfc_tries_used: Type.Integer({ minimum: 0 }),
  liveness_tries_used: Type.Integer({ minimum: 0 }),
};

/** The decrypted body of a webhook: the same frame around the data of each type. */
function eventSchema(name: string, type: EventType, data: TSchema): TSchema {
  return named(
    name,
    open({
      id: PrefixedId("evt_", 64, "event"),
      type: OneOf([type]),
      created_at: Timestamp,
      sandbox: Type.Boolean(),
      metadata: named(
        "EventMetadata",
        open({
          event_id: PrefixedId("evt_", 64, "event"),
          verification_session_id: Nullable(Type.String()),
          contract_version: Nullable(Type.Integer()),
          client_reference_id: Nullable(Type.String()),
        }),
      ),
      data,
    }),
  );
}

export const webhookDescriptions: readonly { type: EventType; summary: string; schema: TSchema }[] = [
  {
    type: "verification.session.succeeded",
    summary: "A person was verified",
    schema: eventSchema(
      "SessionSucceededEvent",
      "verification.session.succeeded",
      open({
        claims: Type.Record(Type.String(), Type.Unknown(), {
          description: "The claims the person agreed to share, by claim key.",
        }),
        selected_field_keys: Type.Array(Type.String()),
      }),
    ),
  },
  {
    type: "verification.session.failed",
    summary: "A verification failed",
    schema: eventSchema(
      "SessionFailedEvent",
      "verification.session.failed",
      open({ failure_code: Type.String(), ...tries }),
    ),
  },
  {
    type: "verification.session.expired",
    summary: "A session ran out of time",
    schema: eventSchema("SessionExpiredEvent", "verification.session.expired", open(tries)),
  },
  {
    type: "verification.session.cancelled",
    summary: "A session was cancelled, or consent was withdrawn",
    schema: eventSchema(
      "SessionCancelledEvent",
      "verification.session.cancelled",
      open({
        outcome: OneOf(["not_verified"]),
        reason: OneOf(["cancelled_by_partner", "cancelled_by_user", "consent_withdrawn"]),
        ...tries,
      }),
    ),
  },
  {
    type: "webhook.endpoint.test",
    summary: "A test of the endpoint",
    schema: eventSchema("EndpointTestEvent", "webhook.endpoint.test", open({})),
  },
];
