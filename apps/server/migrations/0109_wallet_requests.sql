-- phase: expand
-- Requests to wallets. A row holds no value of a person: `query` has the names of claims, and `held` is encrypted with a key that the service
-- forgets until the person comes back with it. The key of the answer goes when the request is answered or retired.
create table wallet_requests (
  id_hash bytea primary key,
  session_id text collate "C" not null,
  organization_id uuid not null,
  sandbox boolean not null,
  attempt_id text collate "C" not null,
  channel text not null,
  query jsonb not null,
  nonce text not null,
  client_id text,
  response_key_sealed bytea,
  browser_hash bytea not null,
  binding text not null,
  state text not null,
  unreadable_answers smallint not null default 0,
  made_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  fetched_at timestamptz(3),
  answered_at timestamptz(3),
  code_hash bytea,
  held bytea,
  held_until timestamptz(3)
);
create index wallet_requests_session on wallet_requests (session_id);
create index wallet_requests_organization on wallet_requests (organization_id);
create trigger wallet_requests_response_key_sealed_key before insert or update of response_key_sealed on wallet_requests
  for each row when (new.response_key_sealed is not null and not key_may_store(sealed_under(new.response_key_sealed))) execute function refuse_key();
