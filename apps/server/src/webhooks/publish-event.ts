import type { EventType } from "@assay/contract/events";
import type { Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { newId } from "../lib/ids.ts";

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

/**
 * Writes events in the transaction of what they tell of: both are there or neither. Takes many at once, because
 * thousands of sessions may expire together. Returns the ids in the same order.
 */
export async function publishEvents(tx: Tx, now: Date, events: readonly NewEvent[]): Promise<string[]> {
  const ids = events.map(() => newId("evt", now));
  await tx.run(sql`
    insert into events (id, organization_id, type, session_id, sandbox, contract_version, client_reference_id, created_at)
    select *, ${now}::timestamptz from unnest(
      ${ids}::text[],
      ${events.map((event) => event.organizationId)}::uuid[],
      ${events.map((event) => event.type)}::text[],
      ${events.map((event) => event.session?.id ?? null)}::text[],
      ${events.map((event) => event.sandbox)}::boolean[],
      ${events.map((event) => event.session?.contractVersion ?? null)}::integer[],
      ${events.map((event) => event.session?.clientReferenceId ?? null)}::text[])`);
  return ids;
}
