import type { IdPrefix } from "./facts.ts";

/** Exists for the compiler only; at run time an id is a plain string. */
declare const noun: unique symbol;

/**
 * The id of one noun (a branded type). It is usable as a string, but a string or another noun's id does not
 * replace it, so swapped arguments do not compile. Ids come from a validated request, a row, or a function
 * that makes new ones.
 */
export type Id<Noun extends string> = string & { readonly [noun]: Noun };

export type SessionId = Id<"session">;
export type AttemptId = Id<"attempt">;
export type TemplateId = Id<"template">;
export type EventId = Id<"event">;
export type DeliveryId = Id<"delivery">;
export type DeliveryAttemptId = Id<"delivery attempt">;
export type EndpointId = Id<"endpoint">;
export type EncryptionKeyId = Id<"encryption key">;

/** The noun of each prefix. */
export type IdOfPrefix = {
  vs: SessionId;
  va: AttemptId;
  evt: EventId;
  whd: DeliveryId;
  wha: DeliveryAttemptId;
  whe: EndpointId;
  whk: EncryptionKeyId;
  vst: TemplateId;
};

export type PrefixedIdOf<P extends IdPrefix> = IdOfPrefix[P];

export type OrganizationId = Id<"organization">;
export type UserId = Id<"user">;
export type UserSessionId = Id<"user session">;
export type PasskeyId = Id<"passkey">;
export type MembershipId = Id<"membership">;
export type InvitationId = Id<"invitation">;
export type ApiKeyId = Id<"API key">;
export type DomainId = Id<"domain">;
export type ChallengeId = Id<"domain challenge">;
export type RedirectUriId = Id<"redirect URI">;
export type ConsentId = Id<"consent">;
export type AuditLogId = Id<"audit log">;
export type ApiRequestId = Id<"API request">;

/** The ids that are UUIDs. */
export type UuidId =
  | OrganizationId
  | UserId
  | UserSessionId
  | PasskeyId
  | MembershipId
  | InvitationId
  | ApiKeyId
  | DomainId
  | ChallengeId
  | RedirectUriId
  | ConsentId
  | AuditLogId
  | ApiRequestId;

/** The same data with plain strings for ids, as clients send it: their ids come from addresses and forms. */
export type WithPlainIds<T> =
  T extends Id<string>
    ? string
    : T extends readonly (infer Item)[]
      ? WithPlainIds<Item>[]
      : T extends object
        ? { [K in keyof T]: WithPlainIds<T[K]> }
        : T;
