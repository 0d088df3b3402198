import type { PasskeyId, UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { beyondCursor, readPage } from "../../platform/db/page.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { sql } from "../../platform/db/sql.ts";
import type { PageStart } from "../../platform/kernel/page.ts";

export type PasskeyRow = {
  id: PasskeyId;
  userId: UserId;
  name: string;
  credentialId: Buffer;
  publicKey: Buffer;
  signatureCount: number;
  transports: string[];
  synced: boolean;
  createdAt: Date;
  lastUsedAt: Date | null;
};

const columns = sql`id, user_id, name, credential_id, public_key, signature_count, transports, synced, created_at, last_used_at`;

export function insertPasskey(
  tx: Tx,
  passkey: Omit<PasskeyRow, "createdAt" | "lastUsedAt"> & { now: Date },
): Promise<PasskeyRow> {
  return tx.one<PasskeyRow>(sql`
    insert into passkeys (id, user_id, name, credential_id, public_key, signature_count, transports, synced, created_at)
    values (${passkey.id}, ${passkey.userId}, ${passkey.name}, ${passkey.credentialId}, ${passkey.publicKey},
      ${passkey.signatureCount}, ${passkey.transports}, ${passkey.synced}, ${passkey.now})
    returning ${columns}`);
}

/** Finds a passkey by its credential id alone: the sign-in does not know the account yet. */
export function findPasskeyByCredential(db: Queryable, credentialId: Buffer): Promise<PasskeyRow | null> {
  return db.first<PasskeyRow>(sql`select ${columns} from passkeys where credential_id = ${credentialId}`);
}

export function listAllPasskeys(db: Queryable, userId: UserId): Promise<PasskeyRow[]> {
  return db.rows<PasskeyRow>(sql`select ${columns} from passkeys where user_id = ${userId} order by id desc`);
}

export function listPasskeys(db: Queryable, userId: UserId, page: PageStart<PasskeyId> & { limit: number }) {
  return readPage<PasskeyRow>(db, {
    ...page,
    cursorExists: (id) => sql`select 1 from passkeys where id = ${id} and user_id = ${userId}`,
    rowsAfter: (count) => sql`
        select ${columns} from passkeys
        where user_id = ${userId} ${beyondCursor(page)}
        order by id desc limit ${count}`,
  });
}

export function renamePasskey(
  db: Queryable,
  userId: UserId,
  id: PasskeyId,
  name: string,
): Promise<PasskeyRow | null> {
  return db.first<PasskeyRow>(sql`
    update passkeys set name = ${name} where id = ${id} and user_id = ${userId} returning ${columns}`);
}

export function removePasskey(tx: Tx, userId: UserId, id: PasskeyId): Promise<PasskeyRow | null> {
  return tx.first<PasskeyRow>(
    sql`delete from passkeys where id = ${id} and user_id = ${userId} returning ${columns}`,
  );
}

/** Removes every passkey of the user and returns their names. */
export async function removePasskeysOf(tx: Tx, userId: UserId): Promise<string[]> {
  const rows = await tx.rows<{ name: string }>(
    sql`delete from passkeys where user_id = ${userId} returning name`,
  );
  return rows.map(({ name }) => name);
}

/** False if the passkey was deleted, or a concurrent request stored a higher signature counter. */
export async function markPasskeyUsed(
  tx: Tx,
  id: PasskeyId,
  use: { signatureCount: number; synced: boolean; now: Date },
): Promise<boolean> {
  const marked = await tx.run(sql`
    update passkeys set signature_count = ${use.signatureCount}, synced = ${use.synced}, last_used_at = ${use.now}
    where id = ${id} and (signature_count < ${use.signatureCount} or (signature_count = 0 and ${use.signatureCount}::bigint = 0))`);
  return marked === 1;
}

export async function insertPasskeyChallenge(
  db: Queryable,
  challenge: { hash: Buffer; userId: UserId | null; expiresAt: Date },
): Promise<void> {
  await db.run(sql`
    insert into passkey_challenges (challenge_hash, user_id, expires_at)
    values (${challenge.hash}, ${challenge.userId}, ${challenge.expiresAt})`);
}

/** Consumes the challenge, whether or not its answer is correct. */
export async function takeChallenge(
  db: Queryable,
  hash: Buffer,
  userId: UserId | null,
  now: Date,
): Promise<boolean> {
  const taken = await db.run(sql`
    delete from passkey_challenges
    where challenge_hash = ${hash} and user_id is not distinct from ${userId}::uuid and expires_at > ${now}`);
  return taken === 1;
}

export function expiredPasskeyChallenges(now: Date): Expired {
  const due = sql`expires_at <= ${now}`;
  return { table: "passkey_challenges", key: "challenge_hash", type: "bytea", due };
}
