-- Links that were mailed. `email` is the address a link went to: when the account has another one by then, it is void.
create table mailed_tokens (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('magic_link', 'reset_password', 'verify_email', 'change_email')),
  email text not null,
  -- SHA-256 of a 256-bit random token; the token itself is never stored.
  token_hash bytea not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create unique index mailed_tokens_token on mailed_tokens (token_hash);
create index mailed_tokens_user on mailed_tokens (user_id);
create index mailed_tokens_expiry on mailed_tokens (expires_at);

-- Somebody asked for a link to this address. Looked up apart from the request, which thereby does the same work whether
-- or not there is an account.
create table mail_requests (
  id uuid primary key,
  purpose text not null check (purpose in ('magic_link', 'reset_password')),
  -- Sealed.
  email bytea not null,
  created_at timestamptz(3) not null
);

create table second_factors (
  user_id uuid primary key references users (id) on delete cascade,
  -- Sealed.
  secret bytea not null,
  -- Null until the owner has shown a code; until then it is not asked for.
  confirmed_at timestamptz(3),
  -- The latest time step of which a code was accepted. Codes of it and of earlier ones are refused.
  last_step bigint,
  created_at timestamptz(3) not null
);

-- A code is deleted when it is used.
create table backup_codes (
  user_id uuid not null references users (id) on delete cascade,
  -- SHA-256 over account and code; a code has 80 random bits.
  code_hash bytea not null,
  created_at timestamptz(3) not null,
  primary key (user_id, code_hash)
);

create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  name text not null,
  credential_id bytea not null,
  public_key bytea not null,
  signature_count bigint not null,
  transports text[] not null,
  synced boolean not null,
  created_at timestamptz(3) not null,
  last_used_at timestamptz(3)
);
create unique index passkeys_credential on passkeys (credential_id);
create index passkeys_user on passkeys (user_id, id desc);

-- A challenge is deleted when it is answered, rightly or not.
create table passkey_challenges (
  challenge_hash bytea primary key,
  -- The account that adds a passkey; null for signing in.
  user_id uuid references users (id) on delete cascade,
  expires_at timestamptz(3) not null
);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
