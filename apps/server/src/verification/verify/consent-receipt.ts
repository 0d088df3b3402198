import type { PageLanguage } from "@assay/contract/facts";
import type { SessionId } from "@assay/contract/ids";
import type { Core } from "../../platform/core.ts";
import type { Queryable } from "../../platform/db/db.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import { newSigningKey, signJws } from "../../platform/lib/jws.ts";
import type { ShareFields } from "../sessions/share-contract.ts";
import {
  type ConsentReceiptKeyRow,
  findConsentReceiptKey,
  insertConsentReceiptKey,
} from "./consent-receipt-key.store.ts";

/** The key that signs consent receipts. Made once and only sealed under the ring, so that no rotation voids a receipt. */
export async function openConsentReceiptKey(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  db: Queryable,
): Promise<ConsentReceiptKeyRow> {
  const known = await findConsentReceiptKey(db);
  if (known !== null) return known;
  const now = clock.now();
  const id = newUuid(now);
  const { publicKey, privateKey } = newSigningKey();
  const sealed = ring.seal("consent-receipt", privateKey, id);
  await insertConsentReceiptKey(db, { id, public_key: publicKey, private_key: sealed }, now);
  const made = await findConsentReceiptKey(db);
  if (made === null) throw new Error("there is no key for consent receipts");
  return made;
}

/** What was asked, what was agreed, on which texts, and when. It tells nothing about who agreed. */
type ConsentReceipt = {
  jti: string;
  session_id: SessionId;
  sandbox: boolean;
  organization: { id: string; name: string; verified_domain: string | null };
  asked: ShareFields;
  agreed: string[];
  declined: string[];
  terms: { version: string; hash: string; language: PageLanguage | null };
  given_at: string;
};

export function signConsentReceipt(
  { ring }: Pick<Core, "ring">,
  key: ConsentReceiptKeyRow,
  issuer: string,
  receipt: ConsentReceipt,
): Promise<string> {
  const privateKey = ring.open("consent-receipt", key.private_key, key.id);
  return signJws({ id: key.id, privateKey }, "consent-receipt+jwt", {
    iss: issuer,
    iat: Math.floor(Date.parse(receipt.given_at) / 1000),
    ...receipt,
  });
}
