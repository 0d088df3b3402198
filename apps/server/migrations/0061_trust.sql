-- Whom the installation trusts to sign documents. All of it is published by the states themselves, so nothing is sealed. Every process
-- reads it from here: the same passport gets the same verdict on all of them.

-- Certificates, revocation lists and deviation lists as they were published, each once however many imports brought it.
create table trust_items (
  sha256 text collate "C" primary key check (sha256 ~ '^[0-9a-f]{64}$'),
  kind text not null check (kind in ('certificate', 'revocation_list', 'deviation_list')),
  content bytea not null
);

-- One row for each part of an imported file: a master list inside it, or what the operator alone vouches for.
create table trust_imports (
  sha256 text collate "C" not null check (sha256 ~ '^[0-9a-f]{64}$'),
  part integer not null check (part >= 0),
  type text not null,
  label text not null,
  imported_at timestamptz(3) not null,
  -- Who signed the list and who vouches for the signer; null where the operator's own act is the reason.
  signed_by jsonb,
  brought_by text not null check (brought_by in ('command', 'folder', 'source')),
  -- The address of the source, where one brought it.
  source text check ((source is not null) = (brought_by = 'source')),
  -- A later edition of the source lacks some of its certificates: they count until then, so that an operator can object.
  retire_at timestamptz(3),
  -- When the operator was told that the signer of the list was revoked after the import.
  signer_revoked_told_at timestamptz(3),
  -- Taken back. The row stays, so that the folder of an older installation does not bring it again.
  retired_at timestamptz(3),
  primary key (sha256, part)
);

create table trust_import_items (
  import_sha256 text collate "C" not null,
  import_part integer not null,
  position integer not null,
  item_sha256 text collate "C" not null references trust_items,
  primary key (import_sha256, import_part, position),
  foreign key (import_sha256, import_part) references trust_imports
);

-- Raised by every change, in its transaction. A verdict names the version that it was made with.
create table trust_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null,
  changed_at timestamptz(3) not null
);
insert into trust_version (version, changed_at) values (0, now());

-- The addresses that are asked for new editions, and what came of it.
create table trust_sources (
  address text collate "C" primary key,
  etag text,
  last_modified text,
  file_sha256 text,
  -- When the edition that counts was signed: an older one is refused.
  edition_at timestamptz(3),
  due_at timestamptz(3) not null,
  checked_at timestamptz(3),
  succeeded_at timestamptz(3),
  failures integer not null default 0,
  -- Why the last check brought nothing; null when it went well.
  problem text
);
create index trust_sources_due on trust_sources (due_at);

-- What was done to the trust of this installation, for its operator.
create table trust_acts (
  -- Counted up under the lock on trust_version.
  number bigint primary key,
  at timestamptz(3) not null,
  version bigint not null,
  actor text not null check (actor in ('command', 'folder', 'source')),
  act text not null,
  subject text not null,
  detail text not null
);
