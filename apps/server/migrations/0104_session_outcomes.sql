-- phase: expand
-- Outcomes of sessions that are not added to `session_days` yet. The transaction that ends a session only inserts here; a job adds them up and deletes them in
-- one transaction, and whoever reads figures reads both.
create table session_outcomes (
  organization_id uuid not null,
  id uuid not null,
  sandbox boolean not null,
  day date not null,
  status text not null,
  failure_code text,
  seconds_bucket smallint,
  stage text not null,
  -- -1 for an outcome that is taken back.
  by smallint not null,
  primary key (organization_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
