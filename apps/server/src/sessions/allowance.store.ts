import type { OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../db/db.ts";
import { sql } from "../db/sql.ts";
import { later } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";
import type { Allowance } from "./allowance.ts";
import { idBy } from "./session.store.ts";
import { lastExpiredCreation } from "./session.ts";

type Row = { bound: number; granted: number; granted_before: number; window_from: Date };

/** Held until the transaction ends. Null for an organization whose sessions were never counted. */
export async function lockAllowance(tx: Tx, organizationId: OrganizationId): Promise<Allowance | null> {
  const row = await tx.first<Row>(sql`
    select bound, granted, granted_before, window_from from session_allowances
    where organization_id = ${organizationId} for update`);
  if (row === null) return null;
  const { bound, granted, granted_before: grantedBefore, window_from: windowFrom } = row;
  return { bound, granted, grantedBefore, windowFrom };
}

/** Makes the row of an organization that has none, so that there is something to lock. */
export async function insertAllowance(
  tx: Tx,
  organizationId: OrganizationId,
  bound: number,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    insert into session_allowances (organization_id, bound, window_from) values (${organizationId}, ${bound}, ${now})
    on conflict (organization_id) do nothing`);
}

export async function writeAllowance(tx: Tx, organizationId: OrganizationId, to: Allowance): Promise<void> {
  await tx.run(sql`
    update session_allowances set bound = ${to.bound}, granted = ${to.granted}, granted_before = ${to.grantedBefore},
      window_from = ${to.windowFrom}
    where organization_id = ${organizationId}`);
}

/** The open sessions, counted in the index of the lists, and no further than `most`. Those that are due are not open. */
export async function countOpenSessions(
  db: Queryable,
  organizationId: OrganizationId,
  most: number,
  now: Date,
): Promise<number> {
  const firstLiving = idFloor("vs", later(lastExpiredCreation(now), 1));
  const living = (status: "created" | "in_progress") => sql`
    (select 1 from sessions
     where organization_id = ${organizationId} and status = ${status} and ${idBy.status} >= ${firstLiving}
     limit ${most})`;
  const { open } = await db.one<{ open: number }>(sql`
    select count(*) as open from (${living("created")} union all ${living("in_progress")}) as living`);
  return open;
}
