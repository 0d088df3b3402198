import type { EventType } from "@assay/contract/events";
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

export type NewEvent = {
  organizationId: string;
  type: EventType;
  sandbox: boolean;
  session: {
    id: string;
    contractVersion: number;
    clientReferenceId: string | null;
    /** The endpoint the session is bound to, or null: then every enabled subscribed endpoint gets the event. */
    webhookEndpointId: string | null;
  } | null;
  /** The event's `data`. It may hold claims: it is sealed for each endpoint and never written in the clear. */
  data: Record<string, unknown>;
};

const noKeyNoticeEveryMs = dayMs;

/**
 * Writes events and their sealed deliveries in the transaction of what they tell of: all of it is there or nothing. Takes
 * many at once, because thousands of sessions may expire together. Returns the ids in the same order.
 */
export async function publishEvents(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  events: readonly NewEvent[],
): Promise<string[]> {
  if (events.length === 0) return [];
  const ids = events.map(() => newId("evt", now));
  const targets = await findPublishTargets(tx, [...new Set(events.map((event) => event.organizationId))]);
  const byOrganization = Map.groupBy(targets, (target) => target.organization_id);
  const planned = events.flatMap((event, index) =>
    (byOrganization.get(event.organizationId) ?? [])
      .filter((target) => receives(target, event))
      .map((target) => ({ event, eventId: ids[index] ?? "", target })),
  );
  await insertEvents(
    tx,
    events.map((event, index) => ({
      id: ids[index] ?? "",
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
  return ids;
}

/** Publishes `webhook.endpoint.test` for one endpoint. The caller has asked for it, so subscriptions do not matter. */
export async function publishTestEvent(
  core: PublishingCore,
  tx: Tx,
  now: Date,
  test: { organizationId: string; endpointId: string; sandbox: boolean },
): Promise<string> {
  const { organizationId, endpointId, sandbox } = test;
  const eventId = newId("evt", now);
  const targets = await findPublishTargets(tx, [organizationId]);
  const event: NewEvent = {
    organizationId,
    type: "webhook.endpoint.test",
    sandbox,
    session: null,
    data: { webhook_endpoint_id: endpointId },
  };
  await insertEvents(
    tx,
    [
      {
        id: eventId,
        organization_id: organizationId,
        type: event.type,
        session_id: null,
        sandbox,
        contract_version: null,
        client_reference_id: null,
      },
    ],
    now,
  );
  await writeDeliveries(
    core,
    tx,
    now,
    targets.filter((target) => target.id === endpointId).map((target) => ({ event, eventId, target })),
  );
  return eventId;
}

type Planned = { event: NewEvent; eventId: string; target: PublishTarget };

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
      plaintext: () => plaintextOf(event, eventId, now),
    })),
  );
  const sealed = new Map<Planned, { encryptionKeyId: string; payload: string }>();
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

function plaintextOf(event: NewEvent, eventId: string, now: Date): string {
  return JSON.stringify({
    id: eventId,
    type: event.type,
    created_at: now.toISOString(),
    sandbox: event.sandbox,
    metadata: {
      event_id: eventId,
      verification_session_id: event.session?.id ?? null,
      contract_version: event.session?.contractVersion ?? null,
      client_reference_id: event.session?.clientReferenceId ?? null,
    },
    data: event.data,
  });
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
