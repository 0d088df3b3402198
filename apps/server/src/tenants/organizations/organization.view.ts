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
    brand_color: row.brandColor,
    logo_url: row.logoUrl,
    logo_uploaded_at: row.logoUploadedAt?.toISOString() ?? null,
    website_url: row.websiteUrl,
    support_email: row.supportEmail,
    privacy_url: row.privacyUrl,
    terms_url: row.termsUrl,
    agents_may_change_webhooks: row.agentsMayChangeWebhooks,
    pending_deletion_at: row.pendingDeletionAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
