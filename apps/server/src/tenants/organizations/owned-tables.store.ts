import type { OrganizationId } from "@assay/contract/ids";
import { type Sql, sql } from "../../platform/db/sql.ts";

/** A table with rows that belong to an organization, and the condition that selects them. */
export type OwnedTable = { table: string; belongsTo: (organizationId: OrganizationId) => Sql };

function byOrganization(table: string): OwnedTable {
  return { table, belongsTo: (organizationId) => sql`organization_id = ${organizationId}` };
}

/**
 * Everything that the deletion of an organization removes, referencing tables first. A test checks that every
 * table with an `organization_id` is listed. Rows that belong to an organization through another table need a
 * condition and come before that table.
 */
export const ownedTables: readonly OwnedTable[] = [
  // Attempts, the busiest webhook table, have no index on the organization; they are found through their
  // delivery.
  {
    table: "webhook_attempts",
    belongsTo: (organizationId) =>
      sql`delivery_id in (select id from webhook_deliveries where organization_id = ${organizationId})`,
  },
  // Deleting a delivery also deletes its exchanges; deleting them first keeps the next step small.
  {
    table: "webhook_exchanges",
    belongsTo: (organizationId) =>
      sql`delivery_id in (select id from webhook_deliveries where organization_id = ${organizationId})`,
  },
  byOrganization("webhook_delivery_queue"),
  byOrganization("webhook_deliveries"),
  byOrganization("webhook_keys"),
  byOrganization("webhook_endpoints"),
  byOrganization("attempt_sockets"),
  byOrganization("handoff_tokens"),
  byOrganization("wallet_requests"),
  byOrganization("consents"),
  byOrganization("attempts"),
  byOrganization("sessions"),
  byOrganization("session_templates"),
  byOrganization("session_outcomes"),
  byOrganization("session_days"),
  byOrganization("session_allowances"),
  byOrganization("events"),
  byOrganization("api_keys"),
  // After the keys: nothing is logged for a deleted key.
  byOrganization("api_requests"),
  byOrganization("redirect_uris"),
  byOrganization("verified_domains"),
  byOrganization("domain_challenges"),
  byOrganization("rp_terms_acceptances"),
  byOrganization("invitations"),
  byOrganization("organization_logos"),
  byOrganization("wallet_identities"),
  byOrganization("deletion_codes"),
  byOrganization("mails"),
  byOrganization("audit_logs"),
  byOrganization("set_aside_rows"),
  // Attempts that were written while their delivery was being deleted. This condition reads the whole table,
  // so it runs last.
  byOrganization("webhook_attempts"),
];

/** Tables with an `organization_id` that the last step handles. */
export const lastTables: readonly string[] = ["memberships", "deleted_organizations", "deletion_receipts"];
