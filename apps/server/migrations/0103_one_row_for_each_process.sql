-- phase: expand
-- small: key_ring_processes
-- A process reports once, in this table: what it has of the key ring, and how it fares. The release before writes the second to `process_reports`, which a
-- later migration removes; what it writes here has none of these columns.
alter table key_ring_processes add column role text;
alter table key_ring_processes add column version text;
-- The newest migration that the process contains, so that one which takes something away can wait for it. Null for releases before this one.
alter table key_ring_processes add column code_version integer;
alter table key_ring_processes add column started_at timestamptz(3);
alter table key_ring_processes add column report jsonb;
