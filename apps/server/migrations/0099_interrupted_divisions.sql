-- phase: expand
-- The release before could divide tables that grow with sessions into partitions. A division that was interrupted leaves the check `TABLE_ends_before`, which refuses new rows
-- from its date on. A process of that release that runs beside this one can leave another, so a job calls the function, too. Divided tables keep their partitions: the
-- default partition takes every row for which there is no other.
create function drop_division_checks() returns void language plpgsql as $$
declare
  division record;
begin
  for division in
    select conrelid::regclass as table_name, conname from pg_constraint
    where contype = 'c' and conname in ('sessions_ends_before', 'attempts_ends_before', 'consents_ends_before', 'events_ends_before',
      'webhook_deliveries_ends_before', 'audit_logs_ends_before')
  loop
    execute format('alter table %s drop constraint if exists %I', division.table_name, division.conname);
  end loop;
end
$$;
select drop_division_checks();
