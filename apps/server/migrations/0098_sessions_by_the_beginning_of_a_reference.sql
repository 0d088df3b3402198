-- phase: expand
-- transaction: none
-- Serves the search for the beginning of a reference. The operator class compares bytes: in the collation of the database a beginning is no range.
create index concurrently if not exists sessions_reference_beginning
  on sessions (organization_id, sandbox, client_reference_id text_pattern_ops) where client_reference_id is not null;
