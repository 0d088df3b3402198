import type { Core } from "../core.ts";
import type { Queryable } from "../db/db.ts";
import { newUuid } from "../kernel/ids.ts";
import { newSigningKey, signJws } from "../lib/jws.ts";
import {
  findReceiptKey,
  insertReceiptKey,
  type ReceiptKeyRow,
  type ReceiptKind,
} from "./receipt-key.store.ts";

/**
 * The key that signs receipts of this kind. It is generated once and stored sealed, not derived from the key
 * ring, so that receipts stay valid after a rotation.
 */
export async function openReceiptKey(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  db: Queryable,
  kind: ReceiptKind,
): Promise<ReceiptKeyRow> {
  const known = await findReceiptKey(db, kind);
  if (known !== null) return known;
  const now = clock.now();
  const id = newUuid(now);
  const { publicKey, privateKey } = newSigningKey();
  const sealed = ring.seal(kind, privateKey, id);
  await insertReceiptKey(db, kind, { id, publicKey, privateKey: sealed }, now);
  const made = await findReceiptKey(db, kind);
  if (made === null) throw new Error(`there is no key for a ${kind}`);
  return made;
}

export function signReceipt(
  { ring }: Pick<Core, "ring">,
  kind: ReceiptKind,
  key: ReceiptKeyRow,
  payload: Record<string, unknown>,
): Promise<string> {
  const privateKey = ring.open(kind, key.privateKey, key.id);
  return signJws({ id: key.id, privateKey }, `${kind}+jwt`, payload);
}
