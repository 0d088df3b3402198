-- phase: expand
-- transaction: none
-- Finds the sessions of an organization and environment by an entry of their metadata. Sessions without metadata, which
-- are most, cost nothing.
create index concurrently if not exists sessions_metadata
  on sessions using gin (
    (jsonb_set('{}', array[organization_id::text || sandbox::text], metadata::jsonb)) jsonb_path_ops)
  where metadata::text <> '{}';
