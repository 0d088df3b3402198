import type { Queryable, Tx } from "../db/db.ts";
import { ownedBy } from "../db/owned-by.ts";
import { sql } from "../db/sql.ts";
import { isSandbox, type Tenant } from "../kernel/caller.ts";
import { later } from "../kernel/clock.ts";
import { idFloor } from "../kernel/ids.ts";
import type { Allowance } from "./allowance.ts";
import { idBy } from "./session.store.ts";
import { lastExpiredCreation } from "./session.ts";

type Row = { bound: number; granted: number; granted_before: number; window_from: Date };

/** Held until the transaction ends. Null for a tenant whose sessions were never counted. */
export async function lockAllowance(tx: Tx, tenant: Tenant): Promise<Allowance | null> {
  const row = await tx.first<Row>(sql`
    select bound, granted, granted_before, window_from from session_allowances
    where ${ownedBy(tenant)} for update`);
  if (row === null) return null;
  const { bound, granted, granted_before: grantedBefore, window_from: windowFrom } = row;
  return { bound, granted, grantedBefore, windowFrom };
}

/** Makes the row of a tenant that has none, so that there is something to lock. */
export async function insertAllowance(tx: Tx, tenant: Tenant, bound: number, now: Date): Promise<void> {
  await tx.run(sql`
    insert into session_allowances (organization_id, sandbox, bound, window_from)
    values (${tenant.organizationId}, ${isSandbox(tenant)}, ${bound}, ${now})
    on conflict (organization_id, sandbox) do nothing`);
}

export async function writeAllowance(tx: Tx, tenant: Tenant, to: Allowance): Promise<void> {
  await tx.run(sql`
    update session_allowances set bound = ${to.bound}, granted = ${to.granted}, granted_before = ${to.grantedBefore},
      window_from = ${to.windowFrom}
    where ${ownedBy(tenant)}`);
}

/** The open sessions, counted in the index of the lists, and no further than `most`. Those that are due are not open. */
export async function countOpenSessions(
  db: Queryable,
  tenant: Tenant,
  most: number,
  now: Date,
): Promise<number> {
  const firstLiving = idFloor("vs", later(lastExpiredCreation(now), 1));
  const living = (status: "created" | "in_progress") => sql`
    (select 1 from sessions
     where ${ownedBy(tenant)} and status = ${status} and ${idBy.status} >= ${firstLiving}
     limit ${most})`;
  const { open } = await db.one<{ open: number }>(sql`
    select count(*) as open from (${living("created")} union all ${living("in_progress")}) as living`);
  return open;
}
