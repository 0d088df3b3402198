-- Who may see the operator's page, and who might before: a row for each time that the command line let somebody in. It goes with the account.
create table operator_grants (
  user_id uuid not null references users (id) on delete cascade,
  granted_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  primary key (user_id, granted_at),
  check (revoked_at >= granted_at)
);
create unique index operator_grants_standing on operator_grants (user_id) where revoked_at is null;

-- What each running process tells about itself every few seconds, so that whichever of them is asked can tell about all. Nothing of a partner or a person.
create table process_reports (
  id uuid primary key,
  name text not null,
  role text not null check (role in ('api', 'worker', 'all')),
  version text not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  report jsonb not null
);
