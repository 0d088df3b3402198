import type { Environment } from "@assay/contract/facts";
import type { Queryable } from "../../platform/db/db.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { sql } from "../../platform/db/sql.ts";
import type { UsableChain } from "./wallet-identity.ts";

export type WalletIdentityRow = {
  id: string;
  environment: Environment;
  chain: Buffer[];
  privateKeySealed: Buffer;
  clientId: string | null;
  registration: string[];
  madeAt: Date;
  importedAt: Date | null;
  notBefore: Date | null;
  notAfter: Date | null;
  retiredAt: Date | null;
};

const columns = sql`id, environment, chain, private_key_sealed, client_id, registration, made_at, imported_at, not_before, not_after,
  retired_at`;

/** The operator's identity that signs new requests: of those that are valid now, the one imported last. */
export function findCurrentIdentity(
  db: Queryable,
  environment: Environment,
  now: Date,
): Promise<WalletIdentityRow | null> {
  return db.first<WalletIdentityRow>(sql`
    select ${columns} from wallet_identities
    where organization_id is null and environment = ${environment} and retired_at is null
      and not_before <= ${now} and not_after > ${now}
    order by imported_at desc, id desc limit 1`);
}

/** Retired ones as well: requests that they signed may still be open. */
export function findIdentityByClientId(db: Queryable, clientId: string): Promise<WalletIdentityRow | null> {
  return db.first<WalletIdentityRow>(
    sql`select ${columns} from wallet_identities where client_id = ${clientId}`,
  );
}

/** The oldest first. */
export function listIdentities(db: Queryable, environment: Environment): Promise<WalletIdentityRow[]> {
  return db.rows<WalletIdentityRow>(sql`
    select ${columns} from wallet_identities
    where organization_id is null and environment = ${environment} order by made_at, id`);
}

/** Returns false if the id is taken or the leaf exists already. */
export async function insertIdentity(
  db: Queryable,
  identity: {
    id: string;
    environment: Environment;
    privateKeySealed: Buffer;
    registration?: readonly string[];
  },
  chain: UsableChain | null,
  now: Date,
): Promise<boolean> {
  const { id, environment, privateKeySealed, registration = [] } = identity;
  const added = await db.run(sql`
    insert into wallet_identities (id, environment, private_key_sealed, registration, made_at, chain, client_id, imported_at,
      not_before, not_after)
    values (${id}, ${environment}, ${privateKeySealed}, ${registration}::text[], ${now}, ${derOf(chain)}::bytea[],
      ${chain?.clientId ?? null}, ${chain === null ? null : now}, ${chain?.notBefore ?? null}, ${chain?.notAfter ?? null})
    on conflict do nothing`);
  return added > 0;
}

/** Completes an identity that waits for its certificate. */
export async function setChain(
  db: Queryable,
  id: string,
  chain: UsableChain,
  registration: readonly string[],
  now: Date,
): Promise<boolean> {
  const changed = await db.run(sql`
    update wallet_identities set chain = ${derOf(chain)}::bytea[], client_id = ${chain.clientId},
      registration = ${registration}::text[], imported_at = ${now}, not_before = ${chain.notBefore}, not_after = ${chain.notAfter}
    where id = ${id} and client_id is null and retired_at is null`);
  return changed > 0;
}

export async function setRegistration(
  db: Queryable,
  id: string,
  registration: readonly string[],
): Promise<void> {
  await db.run(sql`update wallet_identities set registration = ${registration}::text[] where id = ${id}`);
}

export async function retireIdentity(db: Queryable, id: string, now: Date): Promise<void> {
  await db.run(sql`update wallet_identities set retired_at = ${now} where id = ${id} and retired_at is null`);
}

/** No request signed by a retired identity is open that long, so its key is no longer needed. */
export function retiredIdentities(retiredBefore: Date): Expired {
  return {
    table: "wallet_identities",
    key: "id",
    type: "uuid",
    due: sql`retired_at <= ${retiredBefore}`,
    owned: true,
  };
}

function derOf(chain: UsableChain | null): Buffer[] {
  return (chain?.certificates ?? []).map((der) => Buffer.from(der));
}
