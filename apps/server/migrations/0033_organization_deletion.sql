-- Set when the hard delete has begun: from then on it cannot be cancelled.
alter table organizations add column deletion_started_at timestamptz(3);
create index organizations_deletion on organizations (pending_deletion_at) where pending_deletion_at is not null;

create table deletion_codes (
  organization_id uuid not null references organizations (id),
  user_id uuid not null references users (id) on delete cascade,
  -- HMAC under the key ring over organization, requester and code.
  code_hash bytea not null,
  wrong_tries integer not null default 0,
  expires_at timestamptz(3) not null,
  primary key (organization_id, user_id)
);
create index deletion_codes_user on deletion_codes (user_id);

-- All that is left of an organization: that it was deleted, and when.
create table deleted_organizations (
  organization_id uuid primary key,
  deleted_at timestamptz(3) not null
);

-- Keys that sign deletion receipts. Kept apart from the key ring, so that rotating the ring voids no receipt.
create table receipt_keys (
  id uuid primary key,
  -- Raw Ed25519 public key.
  public_key bytea not null,
  -- Sealed.
  private_key bytea not null,
  created_at timestamptz(3) not null
);
-- One current key is enough; two processes that start signing at once must not make two.
create unique index receipt_keys_single on receipt_keys ((true));
