import type { DeliveryAttemptId, DeliveryId, OrganizationId } from "@assay/contract/ids";
import type { Queryable } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import type { ReceiverAnswer } from "./exchange.ts";
import { unpackPayload } from "./stored-payload.ts";

export type SealedRow = { payload: string; keyId: string };

/** The body of a delivery while it is kept; null when it is scrubbed, or due to be. */
export async function findSealedBody(
  db: Queryable,
  organizationId: OrganizationId,
  deliveryId: DeliveryId,
  now: Date,
): Promise<SealedRow | null> {
  const row = await db.first<Omit<SealedRow, "payload"> & { payload: Buffer }>(sql`
    select d.payload, k.key_id from webhook_deliveries d join webhook_keys k on k.id = d.encryption_key_id
    where d.organization_id = ${organizationId} and d.id = ${deliveryId} and d.payload is not null
      and (d.scrub_at is null or d.scrub_at > ${now})`);
  return row === null ? null : { ...row, payload: unpackPayload(row.payload) };
}

export type ExchangeRow = {
  attemptId: DeliveryAttemptId;
  signature: string;
  standardSignature: string;
  statusLine: string | null;
  answer: string | null;
  answerIsCut: boolean;
};

export function exchangesOf(
  db: Queryable,
  organizationId: OrganizationId,
  deliveryId: DeliveryId,
): Promise<ExchangeRow[]> {
  return db.rows<ExchangeRow>(sql`
    select attempt_id, signature, standard_signature, status_line, answer, answer_is_cut from webhook_exchanges
    where delivery_id = ${deliveryId} and organization_id = ${organizationId}`);
}

export function answerOf(row: ExchangeRow): ReceiverAnswer | null {
  return row.statusLine === null
    ? null
    : { statusLine: row.statusLine, text: row.answer ?? "", isCut: row.answerIsCut };
}
