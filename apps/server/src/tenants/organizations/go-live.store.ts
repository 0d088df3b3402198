import type { OrganizationId, UserId } from "@assay/contract/ids";
import type { Queryable, Tx } from "../../platform/db/db.ts";
import { sql } from "../../platform/db/sql.ts";
import { newUuid } from "../../platform/kernel/ids.ts";
import type { BusinessDetails } from "./business-details.ts";
import type { RpTerms } from "./rp-terms.ts";

export function readBusinessDetails(db: Queryable, organizationId: OrganizationId): Promise<BusinessDetails> {
  return db.one<BusinessDetails>(sql`
    select business_type as type, business_name as name, business_jurisdiction as jurisdiction,
      business_registration_number as registration_number
    from organizations where id = ${organizationId}`);
}

export async function writeBusinessDetails(
  tx: Tx,
  organizationId: OrganizationId,
  details: BusinessDetails,
  now: Date,
): Promise<void> {
  await tx.run(sql`
    update organizations set business_type = ${details.type}, business_name = ${details.name},
      business_jurisdiction = ${details.jurisdiction}, business_registration_number = ${details.registrationNumber},
      updated_at = ${now}
    where id = ${organizationId}`);
}

export type AcceptanceRow = {
  termsVersion: string;
  termsHash: string;
  jurisdiction: string;
  acceptedBy: UserId;
  acceptedAt: Date;
};

/** The acceptance of these terms or, if there is none, the latest acceptance of any terms. */
export function findAcceptance(
  db: Queryable,
  organizationId: OrganizationId,
  terms: RpTerms,
): Promise<AcceptanceRow | null> {
  return db.first<AcceptanceRow>(sql`
    select terms_version, terms_hash, jurisdiction, accepted_by, accepted_at from rp_terms_acceptances
    where organization_id = ${organizationId}
    order by (terms_version = ${terms.version} and terms_hash = ${terms.hash}
      and jurisdiction = ${terms.jurisdiction}) desc, id desc
    limit 1`);
}

/** False if exactly these terms were already accepted; the first acceptance stays. */
export async function insertAcceptance(
  tx: Tx,
  organizationId: OrganizationId,
  terms: RpTerms,
  userId: UserId,
  now: Date,
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into rp_terms_acceptances (id, organization_id, terms_version, terms_hash, jurisdiction, accepted_by, accepted_at)
    values (${newUuid(now)}, ${organizationId}, ${terms.version}, ${terms.hash}, ${terms.jurisdiction}, ${userId}, ${now})
    on conflict (organization_id, terms_version, terms_hash, jurisdiction) do nothing`);
  return inserted === 1;
}

export async function setLive(tx: Tx, organizationId: OrganizationId, now: Date): Promise<void> {
  await tx.run(sql`
    update organizations set environment = 'live', live_at = ${now}, updated_at = ${now}
    where id = ${organizationId}`);
}
