-- What the person agreed to. One for a session: agreeing again replaces it. It names nobody.
create table consents (
  session_id text collate "C" primary key,
  organization_id uuid not null,
  -- Names the receipt.
  id uuid not null,
  selected_field_keys text[] not null,
  terms_version text not null,
  terms_hash text not null,
  language text,
  -- The signed receipt, as the person has it.
  receipt text not null,
  -- SHA-256 of a 256-bit random token; the token itself is never stored.
  cancel_token_hash bytea not null,
  cancel_token_used_at timestamptz(3),
  given_at timestamptz(3) not null,
  withdrawn_at timestamptz(3)
);
create index consents_organization on consents (organization_id);
alter table consents set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create table handoff_tokens (
  -- SHA-256 of a 256-bit random token.
  token_hash bytea primary key,
  session_id text collate "C" not null,
  organization_id uuid not null,
  -- Made by whoever agreed: the device that claims it may take over from another one.
  may_take_over boolean not null,
  expires_at timestamptz(3) not null,
  -- Set when this token, or another one of the session, is claimed.
  consumed_at timestamptz(3),
  -- Hash of what the device that claimed it calls itself; null when another token was claimed.
  device_hash bytea,
  created_at timestamptz(3) not null
);
create index handoff_tokens_session on handoff_tokens (session_id, created_at desc);
create index handoff_tokens_organization on handoff_tokens (organization_id);
alter table handoff_tokens set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- The way by which the device of an attempt comes back, and how far it is.
create table attempt_sockets (
  attempt_id text collate "C" primary key,
  session_id text collate "C" not null,
  organization_id uuid not null,
  -- SHA-256 of a 256-bit random token; claiming again replaces it.
  token_hash bytea not null,
  step text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index attempt_sockets_session on attempt_sockets (session_id);
create index attempt_sockets_organization on attempt_sockets (organization_id);
alter table attempt_sockets set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Keys that sign consent receipts. Kept apart from the key ring, so that rotating the ring voids no receipt.
create table consent_receipt_keys (
  id uuid primary key,
  -- Raw Ed25519 public key.
  public_key bytea not null,
  -- Sealed.
  private_key bytea not null,
  created_at timestamptz(3) not null
);
create unique index consent_receipt_keys_single on consent_receipt_keys ((true));
