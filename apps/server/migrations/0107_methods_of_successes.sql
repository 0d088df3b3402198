-- phase: expand
-- By which method a session succeeded, for the figures of the partner. Null and `{}` of the release before mean `document_chip`.
alter table session_outcomes add column method text;
alter table session_days add column methods jsonb not null default '{}';
