-- How many sessions of an organization may be open. `bound` is never less than the number that are, so that creating one
-- needs no counting: processes take places from it in blocks, and the sessions are counted again only when it is used up.
create table session_allowances (
  organization_id uuid primary key,
  bound bigint not null,
  -- Places that were given to processes in blocks since `window_from`, and in the window before it. Those that were not
  -- used yet cannot be told from the table of sessions.
  granted bigint not null default 0,
  granted_before bigint not null default 0,
  window_from timestamptz(3) not null
);
