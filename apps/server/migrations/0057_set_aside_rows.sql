-- Rows that a background job cannot deal with. The job goes on without them and tries each again now and then. A table of its
-- own, because a row that refuses every update could not carry a mark of its own.
create table set_aside_rows (
  job text not null,
  -- The table.
  kind text not null,
  -- Its primary key as text; bytes in hexadecimal.
  row_id text collate "C" not null,
  organization_id uuid,
  -- The state or the kind of the failure and a place in the code or the schema, never a value.
  reason text not null,
  first_at timestamptz(3) not null,
  last_at timestamptz(3) not null,
  tries integer not null,
  retry_at timestamptz(3) not null,
  primary key (job, kind, row_id)
);
create index set_aside_rows_due on set_aside_rows (job, kind, retry_at);
create index set_aside_rows_organization on set_aside_rows (organization_id) where organization_id is not null;

-- The two columns of mail_requests are written by the version before this one only, and go in a later one.
insert into set_aside_rows (job, kind, row_id, reason, first_at, last_at, tries, retry_at)
  select 'answer-mail-requests', 'mail_requests', id::text, set_aside_reason, set_aside_at, set_aside_at, 1, set_aside_at
  from mail_requests where set_aside_at is not null;
