import type { OrganizationId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { newSigningKey, signJws } from "../../platform/lib/jws.ts";
import { findReceiptKey, insertReceiptKey, type ReceiptKeyRow } from "./deletion.store.ts";

/**
 * The key that signs deletion receipts. It is generated once and stored sealed under the key ring, not derived from
 * it, so that a rotation of the ring does not invalidate the receipts that owners hold.
 */
export async function openReceiptKey(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  db: Queryable,
): Promise<ReceiptKeyRow> {
  const known = await findReceiptKey(db);
  if (known !== null) return known;
  const now = clock.now();
  const id = newUuid(now);
  const { publicKey, privateKey } = newSigningKey();
  const sealed = ring.seal("deletion-receipt", privateKey, id);
  await insertReceiptKey(db, { id, public_key: publicKey, private_key: sealed }, now);
  const made = await findReceiptKey(db);
  if (made === null) throw new Error("there is no key for deletion receipts");
  return made;
}

type DeletionReceipt = {
  organization_id: OrganizationId;
  organization_name: string;
  deletion_scheduled_for: string;
  deleted_at: string;
};

export function signReceipt(
  { ring }: Pick<Core, "ring">,
  key: ReceiptKeyRow,
  issuer: string,
  receipt: DeletionReceipt,
): Promise<string> {
  const privateKey = ring.open("deletion-receipt", key.private_key, key.id);
  return signJws({ id: key.id, privateKey }, "deletion-receipt+jwt", { iss: issuer, ...receipt });
}
