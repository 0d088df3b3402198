import type { Purpose } from "@assay/credential/trust-anchor";
import type { Queryable } from "../../platform/db/db.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import { sql } from "../../platform/db/sql.ts";

export type StatusListRow = {
  uriHash: Buffer;
  uri: string;
  purpose: Purpose;
  /** As its issuer signed it. */
  body: Buffer;
  issuedAt: Date;
  /** When its issuer's signature on this copy expires. */
  expiresAt: Date | null;
  fetchedAt: Date;
  etag: string | null;
};

export function findStatusList(db: Queryable, uriHash: Buffer): Promise<StatusListRow | null> {
  return db.first<StatusListRow>(sql`
    select uri_hash, uri, purpose, body, issued_at, expires_at, fetched_at, etag from status_lists
    where uri_hash = ${uriHash}`);
}

/** Stores the newer of two copies. Returns false if the stored one is newer. */
export async function saveStatusList(db: Queryable, list: StatusListRow): Promise<boolean> {
  const saved = await db.run(sql`
    insert into status_lists (uri_hash, uri, purpose, body, issued_at, expires_at, fetched_at, etag)
    values (${list.uriHash}, ${list.uri}, ${list.purpose}, ${list.body}, ${list.issuedAt}, ${list.expiresAt}, ${list.fetchedAt},
      ${list.etag})
    on conflict (uri_hash) do update
    set body = excluded.body, issued_at = excluded.issued_at, expires_at = excluded.expires_at, fetched_at = excluded.fetched_at,
      etag = excluded.etag
    where status_lists.issued_at <= excluded.issued_at`);
  return saved > 0;
}

/** Lists that no session has needed since. One that is needed is fetched again. */
export function unusedStatusLists(fetchedBefore: Date): Expired {
  return { table: "status_lists", key: "uri_hash", type: "bytea", due: sql`fetched_at <= ${fetchedBefore}` };
}
