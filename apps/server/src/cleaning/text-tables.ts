/**
 * The tables in which texts of organizations, of their sessions and of people with accounts stand. What is deleted from them leaves bytes
 * behind in their files, which `clean-tables.ts` removes. A test knows every table from one of the two lists.
 */
export const textTables = [
  "api_keys",
  "audit_logs",
  "consents",
  "deletion_receipts",
  "domain_challenges",
  "events",
  "idempotent_answers",
  "invitations",
  "mail_requests",
  "mailed_tokens",
  "mails",
  "organization_logos",
  "organizations",
  "passkeys",
  "redirect_uris",
  "sessions",
  "user_sessions",
  "users",
  "verified_domains",
  "webhook_deliveries",
  "webhook_endpoints",
  "webhook_exchanges",
  "webhook_keys",
] as const;

export type TextTable = (typeof textTables)[number];

/** Tables that hold nothing but identifiers, words of our own, numbers, times, hashes, and what states publish. */
export const textlessTables: readonly string[] = [
  "attempt_sockets",
  "attempts",
  "backup_codes",
  "consent_receipt_keys",
  "deleted_organizations",
  "deletion_codes",
  "familiar_addresses",
  "guess_limits",
  "handoff_tokens",
  "key_ring_keys",
  "key_ring_processes",
  "memberships",
  "passkey_challenges",
  "receipt_keys",
  "rp_terms_acceptances",
  "schema_migrations",
  "second_factors",
  "session_allowances",
  "session_days",
  "set_aside_rows",
  "table_cleanings",
  "trust_acts",
  "trust_import_items",
  "trust_imports",
  "trust_items",
  "trust_sources",
  "trust_version",
  "webhook_attempts",
  "webhook_delivery_queue",
];
