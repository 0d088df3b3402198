-- phase: expand
-- The API log: requests with an API key, kept for seven days, without query strings and bodies. Rows are inserted in batches and deleted by age, never
-- changed. A list is read by the class of its status (4 for 4xx), so that every filter is a range of an index; by
-- time and not by id, because PostgreSQL would otherwise go through the primary key and pass over the rows of others.
create table api_requests (
  id uuid primary key,
  organization_id uuid not null,
  api_key_id uuid not null,
  created_at timestamptz(3) not null,
  duration_ms integer not null,
  -- More than 1 for answers with 503, of which those of a second are one row.
  requests integer not null,
  status smallint not null,
  sandbox boolean not null,
  replayed boolean not null,
  method text not null,
  error_code text,
  request_id text collate "C" not null,
  path text not null
);
create index api_requests_organization on api_requests (organization_id, sandbox, (status / 100), created_at);
create index api_requests_key on api_requests (api_key_id, (status / 100), created_at);
create index api_requests_request on api_requests (organization_id, request_id, created_at);
-- What was beyond the limit of the organization. Nothing else reads by code, and most installations have no such row.
create index api_requests_refused on api_requests (organization_id, created_at) where error_code = 'REQUEST_RATE_EXCEEDED';
-- A client may choose the id, and words of a path that does not exist are its own.
alter table api_requests alter column request_id set statistics 0;
alter table api_requests alter column path set statistics 0;
alter table api_requests alter column method set statistics 0;
