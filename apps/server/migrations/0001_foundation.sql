-- Times are written by the application from its one clock; no default asks the database for the time.
-- Identifiers made by the application start with their creation time, so ordering by id is ordering by age.

create table users (
  id uuid primary key,
  name text not null,
  email text not null,
  email_verified_at timestamptz(3),
  password_hash text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index users_email on users (lower(email));

create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null,
  environment text not null default 'sandbox' check (environment in ('sandbox', 'live')),
  logo_url text,
  website_url text,
  support_email text,
  privacy_url text,
  terms_url text,
  -- When the hard delete is due. Set while the organization is scheduled for deletion.
  pending_deletion_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index organizations_slug on organizations (slug);

create table memberships (
  organization_id uuid not null references organizations (id),
  user_id uuid not null references users (id),
  role text not null check (role in ('member', 'admin', 'owner')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (organization_id, user_id)
);
create index memberships_user on memberships (user_id);

create table user_sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- SHA-256 of a 256-bit random token; the token itself is never stored.
  token_hash bytea not null,
  active_organization_id uuid,
  user_agent text not null,
  created_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create unique index user_sessions_token on user_sessions (token_hash);
create index user_sessions_user on user_sessions (user_id);
create index user_sessions_expiry on user_sessions (expires_at);

create table api_keys (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  name text not null,
  scopes text[] not null,
  enabled boolean not null default true,
  -- HMAC-SHA256 under the key ring; the key itself is never stored.
  secret_hash bytea not null,
  -- Which key of the ring made the hash, so that an old one can be retired when nothing needs it any more.
  hash_key_id text not null,
  request_count bigint not null default 0,
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index api_keys_secret on api_keys (secret_hash);
create index api_keys_organization on api_keys (organization_id, id desc);

create table audit_logs (
  id uuid primary key,
  organization_id uuid not null,
  event text not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'person', 'system')),
  actor_id text,
  target_id text,
  details jsonb not null default '{}',
  created_at timestamptz(3) not null
);
create index audit_logs_organization on audit_logs (organization_id, id desc);
create index audit_logs_event on audit_logs (organization_id, event, id desc);
create index audit_logs_actor on audit_logs (organization_id, actor_id, id desc);
create index audit_logs_age on audit_logs (created_at);

-- Mails wait here until they are sent, then the row is deleted. The content is sealed: it may hold a link that signs in.
create table mails (
  id uuid primary key,
  organization_id uuid,
  content bytea not null,
  attempt_count integer not null default 0,
  next_attempt_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index mails_due on mails (next_attempt_at);

create table idempotent_answers (
  id bytea primary key,
  request_hash bytea not null,
  status smallint not null,
  -- Sealed: some answers hold a secret that is shown only once.
  answer bytea,
  expires_at timestamptz(3) not null
);
create index idempotent_answers_expiry on idempotent_answers (expires_at);
