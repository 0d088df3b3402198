import type { EventData, EventPayload, EventType } from "@assay/contract/events";
import type { EndpointId, EventId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Tx } from "../../platform/db/db.ts";
import { dayMs, later } from "../../platform/kernel/clock.ts";
import { newId } from "../../platform/kernel/ids.ts";
import { type NewDelivery, writeDeliveries } from "./delivery.store.ts";
import { claimNoKeyNotices, type PublishTarget, publishTargets } from "./endpoint.store.ts";
import { type EventRow, writeEvents } from "./event.store.ts";
import { mailNoActiveKey } from "./notify-owners.ts";
import { sealPayloads } from "./seal-payload.ts";

/** The parts of the service that publishing needs. */
export type PublishingCore = Pick<Core, "clock" | "ring" | "publicUrl">;

/** Type and data of an event, as the contract pairs them. */
type TypedEvent<T extends EventType> = { [K in T]: { type: K; data: EventData<K> } }[T];

type SessionEventType = Extract<EventType, `verification.session.${string}`>;
/** What happened to a session. A success contains claims: it is sealed and never stored in the clear. */
export type SessionEvent = TypedEvent<SessionEventType>;

export type NewEvent = {
  session: {
    id: SessionId;
    organizationId: OrganizationId;
    sandbox: boolean;
    contractVersion: number;
    clientReferenceId: string | null;
    /** The endpoint that the session is bound to. Null: every enabled, subscribed one of its environment. */
    webhookEndpointId: EndpointId | null;
  };
} & SessionEvent;

const noKeyNoticeEveryMs = dayMs;

/**
 * Writes events and their sealed deliveries in the transaction of the change that they report (a
 * transactional outbox). They are sent with the next statement or the commit. Pass `known` targets if they are
 * already read. Returns the ids in order.
 */
export async function publishEvents(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  events: readonly NewEvent[],
  known: readonly PublishTarget[] | null = null,
): Promise<EventId[]> {
  if (events.length === 0) return [];
  const [targets] =
    known === null
      ? await tx.ask(publishTargets([...new Set(events.map(({ session }) => session.organizationId))]))
      : [known];
  const byOrganization = Map.groupBy(targets, (target) => target.organizationId);
  const planned = events.map((event) => ({
    event,
    id: newId("evt", now),
    targets: (byOrganization.get(event.session.organizationId) ?? []).filter((target) =>
      receives(target, event),
    ),
  }));
  writeEvents(
    tx,
    planned.map(({ event, id }) => rowOf(event, id, now)),
    now,
  );
  writeDeliveries(tx, await seal(planned, now), now);
  await mailMissingKeys(
    core,
    tx,
    now,
    planned.flatMap((plan) => plan.targets),
  );
  return planned.map(({ id }) => id);
}

type Planned = { event: NewEvent; id: EventId; targets: readonly PublishTarget[] };

/** For each endpoint of the events a delivery with a sealed copy. */
async function seal(planned: readonly Planned[], now: Date): Promise<NewDelivery[]> {
  const copies = planned.flatMap(({ event, id, targets }) =>
    targets.map((target) => ({ event, id, target })),
  );
  const jobs = copies.flatMap(({ event, id, target: { key } }) =>
    key === null ? [] : [{ key, plaintext: () => JSON.stringify(plaintextOf(event, id, now)) }],
  );
  const payloads = (await sealPayloads(jobs)).values();
  return copies.map(({ event, id, target }) => ({
    id: newId("whd", now),
    organizationId: event.session.organizationId,
    sandbox: event.session.sandbox,
    eventId: id,
    eventType: event.type,
    endpointId: target.id,
    sealed:
      target.key === null ? null : { encryptionKeyId: target.key.id, payload: payloads.next().value ?? "" },
  }));
}

function rowOf({ type, session }: NewEvent, id: EventId, now: Date): EventRow {
  return {
    id,
    organizationId: session.organizationId,
    type,
    sessionId: session.id,
    sandbox: session.sandbox,
    contractVersion: session.contractVersion,
    clientReferenceId: session.clientReferenceId,
    createdAt: now,
    retractedAt: null,
  };
}

function receives(target: PublishTarget, { type, session }: NewEvent): boolean {
  // A sandbox result must never look like a live one, nor the reverse, even for a bound session.
  if (target.sandbox !== session.sandbox) return false;
  const bound = session.webhookEndpointId;
  if (bound !== null && bound !== target.id) return false;
  return target.subscribedEventTypes?.includes(type) ?? true;
}

/** The decrypted payload. Typed by the contract, so that it contains only what is published. */
function plaintextOf(event: NewEvent, eventId: EventId, now: Date): EventPayload<EventType> {
  const { session, ...content } = event;
  return {
    id: eventId,
    created_at: now.toISOString(),
    sandbox: session.sandbox,
    metadata: {
      event_id: eventId,
      verification_session_id: session.id,
      contract_version: session.contractVersion,
      client_reference_id: session.clientReferenceId,
    },
    ...content,
  };
}

/** At most one mail for each endpoint and day, however many events found no key. */
export async function mailMissingKeys(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  targets: readonly PublishTarget[],
): Promise<void> {
  const before = later(now, -noKeyNoticeEveryMs);
  const due = targets.filter(
    ({ key, noKeyMailedAt: mailedAt }) => key === null && (mailedAt === null || mailedAt <= before),
  );
  if (due.length === 0) return;
  const ids = [...new Set(due.map((target) => target.id))].sort();
  for (const notice of await claimNoKeyNotices(tx, ids, before, now)) await mailNoActiveKey(core, tx, notice);
}
