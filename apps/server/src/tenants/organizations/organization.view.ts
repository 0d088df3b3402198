import type { Organization } from "@assay/contract/organizations";
import type { Static } from "typebox";
import type { OwnOrganizationRow } from "./organization.store.ts";

export function viewOrganization(row: OwnOrganizationRow): Static<typeof Organization> {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    environment: row.environment,
    role: row.role,
    brand_color: row.brand_color,
    logo_url: row.logo_url,
    logo_uploaded_at: row.logo_uploaded_at?.toISOString() ?? null,
    website_url: row.website_url,
    support_email: row.support_email,
    privacy_url: row.privacy_url,
    terms_url: row.terms_url,
    agents_may_change_webhooks: row.agents_may_change_webhooks,
    pending_deletion_at: row.pending_deletion_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
