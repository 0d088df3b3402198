import type { ChallengeId, DomainId, OrganizationId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import type { Expired } from "../../platform/db/quarantine.store.ts";
import type { Among } from "../../platform/db/quarantine.ts";
import { sql } from "../../platform/db/sql.ts";
import type { DomainState } from "./domain.ts";
import { domainsAbove } from "./redirect-uri.ts";

export type DomainRow = {
  id: DomainId;
  organizationId: OrganizationId;
  apexDomain: string;
  tokenHash: Buffer;
  /** Null if it was verified before records were stored. */
  recordValue: string | null;
  verifiedAt: Date;
  lastCheckedAt: Date | null;
  missCount: number;
  downgradedAt: Date | null;
};

export type ChallengeRow = {
  id: ChallengeId;
  apexDomain: string;
  tokenHash: Buffer;
  recordValue: string | null;
  expiresAt: Date;
  createdAt: Date;
};

const domainColumns = sql`d.id, d.organization_id, d.apex_domain, d.token_hash, d.record_value, d.verified_at, d.last_checked_at,
  d.miss_count, d.downgraded_at`;

export function listDomains(db: Queryable, organizationId: OrganizationId): Promise<DomainRow[]> {
  return db.rows<DomainRow>(sql`
    select ${domainColumns} from verified_domains d where d.organization_id = ${organizationId} order by d.id desc`);
}

export async function hasActiveDomain(db: Queryable, organizationId: OrganizationId): Promise<boolean> {
  const found = await db.first(sql`
    select 1 from verified_domains where organization_id = ${organizationId} and downgraded_at is null limit 1`);
  return found !== null;
}

/**
 * The verified domain that people see as the organization's: the one of the redirect, otherwise the one that
 * was verified first. Null if none is verified.
 */
export async function findShownDomain(
  db: Queryable,
  organizationId: OrganizationId,
  redirectUrl: string | null,
): Promise<string | null> {
  const host = URL.parse(redirectUrl ?? "")?.hostname ?? "";
  const row = await db.first<{ apexDomain: string }>(sql`
    select apex_domain from verified_domains
    where organization_id = ${organizationId} and downgraded_at is null
    order by apex_domain = any(${domainsAbove(host)}::text[]) desc, verified_at, id limit 1`);
  return row?.apexDomain ?? null;
}

export function listActiveChallenges(
  db: Queryable,
  organizationId: OrganizationId,
  now: Date,
): Promise<ChallengeRow[]> {
  return db.rows<ChallengeRow>(sql`
    select id, apex_domain, token_hash, record_value, expires_at, created_at from domain_challenges
    where organization_id = ${organizationId} and expires_at > ${now} order by id desc`);
}

/** Other domains for which the organization has an open challenge. */
export async function countOtherChallenges(
  tx: Tx,
  organizationId: OrganizationId,
  apexDomain: string,
  now: Date,
): Promise<number> {
  const { count } = await tx.one<{ count: number }>(sql`
    select count(distinct apex_domain) as count from domain_challenges
    where organization_id = ${organizationId} and expires_at > ${now} and apex_domain <> ${apexDomain}`);
  return count;
}

export async function insertChallenge(
  tx: Tx,
  challenge: Pick<ChallengeRow, "id" | "apexDomain" | "tokenHash" | "expiresAt"> & {
    organizationId: OrganizationId;
    recordValue: string;
    now: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into domain_challenges (id, organization_id, apex_domain, token_hash, record_value, expires_at, created_at)
    values (${challenge.id}, ${challenge.organizationId}, ${challenge.apexDomain}, ${challenge.tokenHash},
      ${challenge.recordValue}, ${challenge.expiresAt}, ${challenge.now})`);
}

export function findChallenge(
  db: Queryable,
  organizationId: OrganizationId,
  id: ChallengeId,
): Promise<ChallengeRow | null> {
  return db.first<ChallengeRow>(sql`
    select id, apex_domain, token_hash, record_value, expires_at, created_at from domain_challenges
    where organization_id = ${organizationId} and id = ${id}`);
}

/**
 * Consumes the challenge and all others of the organization for this domain. False if this one was consumed
 * meanwhile.
 */
export async function spendChallenge(
  tx: Tx,
  organizationId: OrganizationId,
  challenge: { id: ChallengeId; apexDomain: string },
): Promise<boolean> {
  const spent = await tx.run(
    sql`delete from domain_challenges where organization_id = ${organizationId} and id = ${challenge.id}`,
  );
  if (spent === 0) return false;
  await tx.run(sql`
    delete from domain_challenges
    where organization_id = ${organizationId} and apex_domain = ${challenge.apexDomain}`);
  return true;
}

/** Expired challenges are kept for a while, so that an answer can say that they have expired. */
export function expiredChallenges(expiredBefore: Date): Expired {
  const due = sql`expires_at <= ${expiredBefore}`;
  return { table: "domain_challenges", key: "id", type: "uuid", due, owned: true };
}

/**
 * Serializes all decisions about the holder of a domain (an advisory lock, because there may be no row to
 * lock).
 */
export async function lockApex(tx: Tx, apexDomain: string): Promise<void> {
  await tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`apex ${apexDomain}`}, 0))`);
}

export type HolderRow = DomainRow & { organizationName: string };

export function findHolder(db: Queryable, apexDomain: string): Promise<HolderRow | null> {
  return db.first<HolderRow>(sql`
    select ${domainColumns}, o.name as organization_name
    from verified_domains d join organizations o on o.id = d.organization_id
    where d.apex_domain = ${apexDomain}`);
}

export async function insertDomain(
  tx: Tx,
  domain: Pick<DomainRow, "id" | "organizationId" | "apexDomain" | "tokenHash" | "recordValue"> & {
    now: Date;
    nextCheckAt: Date;
  },
): Promise<void> {
  await tx.run(sql`
    insert into verified_domains (id, organization_id, apex_domain, token_hash, record_value, verified_at, last_checked_at, next_check_at)
    values (${domain.id}, ${domain.organizationId}, ${domain.apexDomain}, ${domain.tokenHash}, ${domain.recordValue}, ${domain.now},
      ${domain.now}, ${domain.nextCheckAt})`);
}

/** The holder has verified the domain again: the new token replaces the old one. */
export async function renewDomain(
  tx: Tx,
  organizationId: OrganizationId,
  id: DomainId,
  renewal: { tokenHash: Buffer; recordValue: string | null; now: Date; nextCheckAt: Date },
): Promise<void> {
  await tx.run(sql`
    update verified_domains set token_hash = ${renewal.tokenHash}, record_value = ${renewal.recordValue}, verified_at = ${renewal.now},
      last_checked_at = ${renewal.now}, next_check_at = ${renewal.nextCheckAt}, miss_count = 0, downgraded_at = null
    where organization_id = ${organizationId} and id = ${id}`);
}

/** Also deletes redirect URIs on the domain. */
export function deleteDomain(
  tx: Tx,
  organizationId: OrganizationId,
  id: DomainId,
): Promise<{ apexDomain: string } | null> {
  return tx.first<{ apexDomain: string }>(sql`
    delete from verified_domains where organization_id = ${organizationId} and id = ${id} returning apex_domain`);
}

export function takeDueDomains(db: Queryable, now: Date, among: Among): Promise<DomainRow[]> {
  return db.rows<DomainRow>(sql`
    select ${domainColumns} from verified_domains d
    where (d.next_check_at <= ${now} or ${among.isRetry}) and ${among.where(sql`d.id`, "uuid")}
    order by d.next_check_at limit ${among.limit} ${among.lock}`);
}

/** Leases domains. If the process dies, they are due again at `leaseUntil`. */
export async function leaseDomains(tx: Tx, ids: readonly DomainId[], leaseUntil: Date): Promise<void> {
  await tx.run(sql`update verified_domains set next_check_at = ${leaseUntil} where id = any(${ids}::uuid[])`);
}

/**
 * Records the result of a check. False if the domain was removed, taken over, verified again or checked by
 * another process meanwhile; the result is then discarded.
 */
export async function recordCheck(
  tx: Tx,
  domain: DomainRow,
  state: DomainState & { nextCheckAt: Date; checkedAt: Date | null },
): Promise<boolean> {
  const written = await tx.run(sql`
    update verified_domains set miss_count = ${state.missCount}, downgraded_at = ${state.downgradedAt},
      next_check_at = ${state.nextCheckAt}, last_checked_at = coalesce(${state.checkedAt}, last_checked_at)
    where id = ${domain.id} and token_hash = ${domain.tokenHash} and miss_count = ${domain.missCount}
      and last_checked_at is not distinct from ${domain.lastCheckedAt}`);
  return written === 1;
}
