import type { EventData, EventPayload, EventType } from "@assay/contract/events";
import type { EncryptionKeyId, EndpointId, EventId, OrganizationId, SessionId } from "@assay/contract/ids";
import type { Core } from "../core.ts";
import type { Tx } from "../db/db.ts";
import { dayMs, later } from "../kernel/clock.ts";
import { newId } from "../kernel/ids.ts";
import { announceDeliveries, insertDeliveries } from "./delivery.store.ts";
import { claimNoKeyNotices, findPublishTargets, type PublishTarget } from "./endpoint.store.ts";
import { insertEvents } from "./event.store.ts";
import { mailNoActiveKey } from "./notify-owners.ts";
import { type SealingKey, sealPayloads } from "./seal-payload.ts";

/** The parts of the service that publishing needs. */
export type PublishingCore = Pick<Core, "clock" | "ring" | "publicUrl">;

/** Type and data of an event, as the contract pairs them. */
type Told<T extends EventType> = { [K in T]: { type: K; data: EventData<K> } }[T];

type SessionEventType = Extract<EventType, `verification.session.${string}`>;
/** What happened to a session. The data of a success holds claims: it is sealed for each endpoint and never written in the clear. */
export type ToldOfSession = Told<SessionEventType>;

type Origin = { organizationId: OrganizationId; sandbox: boolean };
export type NewEvent =
  | (Origin & {
      session: {
        id: SessionId;
        contractVersion: number;
        clientReferenceId: string | null;
        /** The endpoint the session is bound to, or null: then every enabled subscribed endpoint gets the event. */
        webhookEndpointId: EndpointId | null;
      };
    } & ToldOfSession)
  | (Origin & { session: null } & Told<Exclude<EventType, SessionEventType>>);

const noKeyNoticeEveryMs = dayMs;

/**
 * Writes events and their sealed deliveries in the transaction of the change that they report (a transactional outbox):
 * all of it is committed, or nothing. Takes many at once, because thousands of sessions may expire together. Returns
 * the ids in the same order.
 */
export function publishEvents(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  events: readonly NewEvent[],
): Promise<string[]> {
  return writeEvents(core, tx, now, events, receives);
}

/** Publishes `webhook.endpoint.test` for one endpoint. The caller has asked for it, so subscriptions do not matter. */
export async function publishTestEvent(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  test: { organizationId: OrganizationId; endpointId: EndpointId; sandbox: boolean },
): Promise<EventId> {
  const { organizationId, endpointId, sandbox } = test;
  const event: NewEvent = {
    organizationId,
    sandbox,
    session: null,
    type: "webhook.endpoint.test",
    data: { webhook_endpoint_id: endpointId },
  };
  const [eventId] = await writeEvents(core, tx, now, [event], (target) => target.id === endpointId);
  if (eventId === undefined) throw new Error("an event was written without an id");
  return eventId;
}

async function writeEvents(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  events: readonly NewEvent[],
  goesTo: (target: PublishTarget, event: NewEvent) => boolean,
): Promise<EventId[]> {
  if (events.length === 0) return [];
  const identified = events.map((event) => ({ event, eventId: newId("evt", now) }));
  const targets = await findPublishTargets(tx, [...new Set(events.map((event) => event.organizationId))]);
  const byOrganization = Map.groupBy(targets, (target) => target.organization_id);
  const planned = identified.flatMap(({ event, eventId }) =>
    (byOrganization.get(event.organizationId) ?? [])
      .filter((target) => goesTo(target, event))
      .map((target) => ({ event, eventId, target })),
  );
  await insertEvents(
    tx,
    identified.map(({ event, eventId }) => ({
      id: eventId,
      organization_id: event.organizationId,
      type: event.type,
      session_id: event.session?.id ?? null,
      sandbox: event.sandbox,
      contract_version: event.session?.contractVersion ?? null,
      client_reference_id: event.session?.clientReferenceId ?? null,
    })),
    now,
  );
  await writeDeliveries(core, tx, now, planned);
  return identified.map(({ eventId }) => eventId);
}

type Planned = { event: NewEvent; eventId: EventId; target: PublishTarget };

async function writeDeliveries(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  planned: readonly Planned[],
): Promise<void> {
  if (planned.length === 0) return;
  const withKey = planned.filter(
    (plan): plan is Planned & { target: { key: SealingKey } } => plan.target.key !== null,
  );
  const payloads = await sealPayloads(
    withKey.map(({ event, eventId, target }) => ({
      key: target.key,
      plaintext: () => JSON.stringify(plaintextOf(event, eventId, now)),
    })),
  );
  const sealed = new Map<Planned, { encryptionKeyId: EncryptionKeyId; payload: string }>();
  for (const [index, plan] of withKey.entries())
    sealed.set(plan, { encryptionKeyId: plan.target.key.id, payload: payloads[index] ?? "" });
  await insertDeliveries(
    tx,
    planned.map((plan) => ({
      id: newId("whd", now),
      organizationId: plan.event.organizationId,
      eventId: plan.eventId,
      eventType: plan.event.type,
      endpointId: plan.target.id,
      sealed: sealed.get(plan) ?? null,
    })),
    now,
  );
  await announceDeliveries(
    tx,
    withKey.map((plan) => plan.target.id),
  );
  await tellAboutMissingKeys(core, tx, now, planned);
}

function receives(target: PublishTarget, event: NewEvent): boolean {
  const bound = event.session?.webhookEndpointId ?? null;
  if (bound !== null && bound !== target.id) return false;
  return target.subscribed_event_types?.includes(event.type) ?? true;
}

/** What the partner finds after decrypting. The contract's type, so that it cannot say anything but what is published. */
function plaintextOf(event: NewEvent, eventId: EventId, now: Date): EventPayload<EventType> {
  const { organizationId: _organizationId, sandbox, session, ...told } = event;
  return {
    id: eventId,
    created_at: now.toISOString(),
    sandbox,
    metadata: {
      event_id: eventId,
      verification_session_id: session?.id ?? null,
      contract_version: session?.contractVersion ?? null,
      client_reference_id: session?.clientReferenceId ?? null,
    },
    ...told,
  };
}

/** At most one mail for each endpoint and day, however many events found no key. */
async function tellAboutMissingKeys(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  planned: readonly Planned[],
): Promise<void> {
  const before = later(now, -noKeyNoticeEveryMs);
  const untold = planned
    .map(({ target }) => target)
    .filter(({ key, no_key_mailed_at: told }) => key === null && (told === null || told <= before));
  if (untold.length === 0) return;
  const ids = [...new Set(untold.map((target) => target.id))].sort();
  for (const notice of await claimNoKeyNotices(tx, ids, before, now)) await mailNoActiveKey(core, tx, notice);
}
