-- phase: expand
-- small: schema_migrations, process_reports
-- What a migration that contracts asks of the code: the number of a migration that it must contain. The highest one names the oldest release that can work on this
-- database. Null for those that expand.
alter table schema_migrations add column least_code integer;
-- The newest migration that the process contains, so that one which takes something away can wait for it. Null for releases before this one.
alter table process_reports add column code_version integer;
