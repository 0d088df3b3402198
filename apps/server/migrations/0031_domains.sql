create table domain_challenges (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  apex_domain text collate "C" not null,
  -- SHA-256 of a 256-bit random token; the token itself is in the answer that announced it, and in the DNS.
  token_hash bytea not null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index domain_challenges_organization on domain_challenges (organization_id, id desc);
create index domain_challenges_expiry on domain_challenges (expires_at);

create table verified_domains (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  apex_domain text collate "C" not null,
  -- The token whose record must stay in the DNS.
  token_hash bytea not null,
  verified_at timestamptz(3) not null,
  last_checked_at timestamptz(3),
  next_check_at timestamptz(3) not null,
  -- Checks in a row that found the DNS answering but the record gone.
  miss_count integer not null default 0,
  downgraded_at timestamptz(3)
);
-- Whatever happens at once, a domain has one holder.
create unique index verified_domains_apex on verified_domains (apex_domain);
create index verified_domains_organization on verified_domains (organization_id, id desc);
create index verified_domains_due on verified_domains (next_check_at);

create table redirect_uris (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  verified_domain_id uuid not null references verified_domains (id) on delete cascade,
  pattern text collate "C" not null,
  created_at timestamptz(3) not null
);
create unique index redirect_uris_pattern on redirect_uris (organization_id, pattern);
create index redirect_uris_organization on redirect_uris (organization_id, id desc);
create index redirect_uris_domain on redirect_uris (verified_domain_id);
