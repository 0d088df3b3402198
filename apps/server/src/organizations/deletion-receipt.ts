import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import type { Core } from "../core.ts";
import type { Queryable } from "../db/db.ts";
import { newUuid } from "../lib/ids.ts";
import { findReceiptKey, insertReceiptKey, type ReceiptKeyRow } from "./deletion.store.ts";

/**
 * The key that signs receipts. It is made once and only sealed under the ring: a rotation of the ring does not void the
 * receipts that owners hold.
 */
export async function openReceiptKey(
  { clock, ring }: Pick<Core, "clock" | "ring">,
  db: Queryable,
): Promise<ReceiptKeyRow> {
  const known = await findReceiptKey(db);
  if (known !== null) return known;
  const now = clock.now();
  const id = newUuid(now);
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = privateKey.export({ format: "jwk" });
  await insertReceiptKey(
    db,
    {
      id,
      public_key: Buffer.from(jwk.x ?? "", "base64url"),
      private_key: ring.seal("deletion-receipt", privateKey.export({ format: "der", type: "pkcs8" }), id),
    },
    now,
  );
  const made = await findReceiptKey(db);
  if (made === null) throw new Error("there is no key for deletion receipts");
  return made;
}

export type DeletionReceipt = {
  organization_id: string;
  organization_name: string;
  deletion_scheduled_for: string;
  deleted_at: string;
};

/** A compact JWS, signed with Ed25519. Whoever has the public key can verify it without us. */
export function signReceipt(
  { ring }: Pick<Core, "ring">,
  key: ReceiptKeyRow,
  issuer: string,
  receipt: DeletionReceipt,
): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const header = { alg: "EdDSA", kid: key.id, typ: "deletion-receipt+jwt" };
  const signed = `${encode(header)}.${encode({ iss: issuer, ...receipt })}`;
  const privateKey = createPrivateKey({
    key: ring.open("deletion-receipt", key.private_key, key.id),
    format: "der",
    type: "pkcs8",
  });
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
}
