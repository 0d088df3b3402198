-- `json` and not `jsonb`: it gives fields back in the order in which the partner wrote them.
create table sessions (
  id text collate "C" primary key,
  organization_id uuid not null,
  status text not null
    check (status in ('created', 'in_progress', 'succeeded', 'failed', 'expired', 'cancelled')),
  failure_code text,
  nfc_tries_used smallint not null default 0,
  liveness_tries_used smallint not null default 0,
  contract_version integer not null,
  share_fields json not null,
  -- Null: the service's own closing page, wherever the service is reached.
  redirect_url text,
  webhook_endpoint_id text,
  client_reference_id text,
  metadata json not null,
  sandbox boolean not null,
  -- SHA-256 of a 256-bit random token; the token itself is never stored.
  cancel_token_hash bytea not null,
  cancel_token_used_at timestamptz(3),
  -- Always the creation plus the lifetime, so a bound on it is also a bound on the id.
  expires_at timestamptz(3) not null,
  completed_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((status = 'failed') = (failure_code is not null)),
  check ((status in ('created', 'in_progress')) = (completed_at is null))
);
-- One index for each way to list: by organization alone, by status, by reference (with or without a status). Each has a
-- collation of its own. They all order alike, but the planner takes them for different orders, so a list that asks for one of
-- them can only be read from the index that is meant for it. Otherwise, for an organization that owns a good part of the
-- table, it thinks it cheap to walk along another index, discarding what does not fit until a page is full, and reads the
-- whole table when what is asked for is old or rare.
create collation by_organization (provider = libc, locale = 'C');
create collation by_status (provider = libc, locale = 'C');
create collation by_reference (provider = libc, locale = 'C');
create index sessions_organization on sessions (organization_id, id collate by_organization desc);
create index sessions_status on sessions (organization_id, status, id collate by_status desc);
create index sessions_reference on sessions (organization_id, client_reference_id, status, id collate by_reference desc)
  where client_reference_id is not null;
-- What the expiry job walks along: only sessions that have not ended.
create index sessions_open on sessions (id) where status in ('created', 'in_progress');

-- Sessions are updated a few times and then deleted, in large numbers: clean up after 2 % instead of 20 %.
alter table sessions set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create table attempts (
  id text collate "C" primary key,
  session_id text collate "C" not null,
  organization_id uuid not null,
  status text not null check (status in ('in_progress', 'succeeded', 'failed', 'cancelled')),
  failure_code text,
  risk_score double precision not null default 0 check (risk_score between 0 and 1),
  -- Hash of what the device calls itself, to tell a resume from a takeover. Removed when the attempt is minimised.
  device_hash bytea,
  -- When the device was last heard from. Removed when the attempt is minimised.
  last_seen_at timestamptz(3),
  session_expires_at timestamptz(3) not null,
  minimised_at timestamptz(3),
  completed_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check ((status = 'in_progress') = (completed_at is null))
);
create index attempts_organization on attempts (organization_id, id collate by_organization desc);
create index attempts_status on attempts (organization_id, status, id collate by_status desc);
create index attempts_session on attempts (session_id, id desc);
-- One attempt of a session at a time (the expiry is the session's, the same for all of its attempts); also finds those
-- whose session is due.
create unique index attempts_open on attempts (organization_id, session_expires_at, session_id)
  where status = 'in_progress';
create index attempts_to_minimise on attempts (id) where minimised_at is null;
alter table attempts set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- Outcomes by the day on which the session was created (UTC). Outlives the sessions. A busy organization has several
-- rows for a day, so that sessions that end together do not wait for one another; readers add them up.
create table session_days (
  organization_id uuid not null,
  day date not null,
  sandbox boolean not null,
  shard smallint not null,
  succeeded bigint not null default 0,
  failed bigint not null default 0,
  expired bigint not null default 0,
  cancelled bigint not null default 0,
  -- Failure code to count, and bucket of seconds from creation to success to count.
  failure_codes jsonb not null default '{}',
  seconds_buckets jsonb not null default '{}',
  primary key (organization_id, day, sandbox, shard)
) with (fillfactor = 70);
