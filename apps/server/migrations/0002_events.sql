-- What happened, without what it was about: payloads exist only sealed, in deliveries.
create table events (
  id text collate "C" primary key,
  organization_id uuid not null,
  type text not null,
  session_id text collate "C",
  sandbox boolean not null,
  contract_version integer,
  client_reference_id text,
  created_at timestamptz(3) not null
);
create index events_organization on events (organization_id, id desc);
create index events_session on events (session_id) where session_id is not null;
create index events_age on events (created_at);
