-- phase: expand
-- small: trust_imports
-- Who may issue wallet credentials, as whom this installation asks wallets, and what issuers publish about the status of credentials.

-- What an import is for: documents of one purpose never count by an authority of another. Anchors of the sandbox never count for live sessions.
alter table trust_imports
  add column purpose text not null default 'passport',
  add column scope text not null default 'live',
  -- When the publisher of the list replaces it; null where it does not say, and for what the operator alone vouches for.
  add column next_update timestamptz(3);
alter table trust_imports add constraint trust_imports_purpose check (purpose in ('passport', 'pid', 'mdl', 'age'));
alter table trust_imports add constraint trust_imports_scope check (scope in ('live', 'sandbox'));

-- Certificates of wallet issuers. Not in trust_items: code of the release before would take them for authorities of passports.
create table wallet_anchors (
  import_sha256 text collate "C" not null,
  import_part integer not null,
  position integer not null,
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  certificate bytea not null,
  -- Lists name authorities that sign credentials, and some that sign nothing but status lists.
  signs text not null check (signs in ('credentials', 'status')),
  primary key (import_sha256, import_part, position),
  foreign key (import_sha256, import_part) references trust_imports
);

-- The certificates with which requests to wallets are signed.
create table wallet_identities (
  id uuid primary key,
  -- Null: the operator's, for all organizations.
  organization_id uuid,
  environment text not null check (environment in ('live', 'sandbox')),
  -- DER, the leaf first, without the anchor; empty until the certificate is imported.
  chain bytea[] not null default '{}',
  -- PKCS #8, sealed by the key ring.
  private_key_sealed bytea not null,
  -- `x509_hash:` and the hash of the leaf; null until there is one.
  client_id text collate "C" unique,
  -- Registration certificates as they were issued: public documents that requests carry.
  registration text[] not null default '{}',
  made_at timestamptz(3) not null,
  imported_at timestamptz(3),
  -- While every certificate of the chain is valid.
  not_before timestamptz(3),
  not_after timestamptz(3),
  retired_at timestamptz(3)
);
create trigger wallet_identities_private_key_sealed_key before insert or update of private_key_sealed on wallet_identities
  for each row when (not key_may_store(sealed_under(new.private_key_sealed))) execute function refuse_key();

-- Status lists as their issuers signed them, each whole. Which entry was looked up is recorded nowhere.
create table status_lists (
  -- SHA-256 of environment, purpose and address: a list counts for the authorities that it was checked with.
  uri_hash bytea primary key,
  uri text not null,
  purpose text not null check (purpose in ('pid', 'mdl', 'age')),
  body bytea not null,
  issued_at timestamptz(3) not null,
  -- When its issuer no longer vouches for this copy; null where it does not say.
  expires_at timestamptz(3),
  fetched_at timestamptz(3) not null,
  etag text
);
create index status_lists_fetched on status_lists (fetched_at);
