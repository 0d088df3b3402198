-- How often something was tried lately. `key` is a keyed hash over what is limited, for example an account and an address:
-- neither can be read from it.
create table guess_limits (
  key bytea primary key,
  level double precision not null,
  updated_at timestamptz(3) not null,
  blocked_until timestamptz(3),
  expires_at timestamptz(3) not null
);
create index guess_limits_expiry on guess_limits (expires_at);

-- From where an account was signed in to. A keyed hash over both, as above.
create table familiar_addresses (
  key bytea primary key,
  expires_at timestamptz(3) not null
);
create index familiar_addresses_expiry on familiar_addresses (expires_at);
