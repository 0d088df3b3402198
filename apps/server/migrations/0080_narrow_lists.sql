-- The indexes of the lists that every event adds to hold the beginning of an id instead of all of it: its time and its place in the millisecond, which come first and give the order. A list reads up to
-- the end of those with the same beginning (`with ties`) and sorts them by the whole id; two such are made only when two processes make one at the same time. An entry is half as
-- long. That counts once in the WAL, and with many organizations that are busy at once a second time, because the end of each one's list is in the middle of the
-- index and pages there are split in halves.
drop index events_type, events_session, webhook_deliveries_organization, webhook_deliveries_endpoint,
  audit_logs_organization, audit_logs_event, audit_logs_actor_event;

-- Serves the lists of events, by type and of all: there are few types, and a page of each is merged.
create index events_type on events (organization_id, sandbox, type, (left(id, 14) collate by_type));
-- Serves the events of a session.
create index events_session on events (session_id, (left(id, 14) collate by_session)) where session_id is not null;
-- Serves the lists of an organization with and without a status, and the deliveries of an event.
create index webhook_deliveries_organization
  on webhook_deliveries (organization_id, sandbox, failed, (left(id, 14) collate by_organization));
-- Serves the same lists of one endpoint, which belongs to one organization and environment, and the end of all deliveries of an endpoint that is gone.
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, failed, (left(id, 14) collate by_endpoint));
-- Serves the list of all audit entries.
create index audit_logs_organization on audit_logs (organization_id, (left(id::text, 18) collate by_organization));
-- Serves the list by event.
create index audit_logs_event on audit_logs (organization_id, event, (left(id::text, 18) collate by_event));
-- Serves the lists by actor, with an event and of all: there are a few dozen kinds of events, and a page of each is merged.
create index audit_logs_actor_event on audit_logs (organization_id, actor_id, event, (left(id::text, 18) collate by_actor_event))
  where actor_id is not null;

-- Counts the test events of each type at the end of its list. It used to be asked for in an order that no index has any more, so that all events of the organization were read.
drop function has_fewer_test_events(uuid, boolean, text, integer);
create function has_fewer_test_events(organization uuid, in_sandbox boolean, types text[], since text, most integer) returns boolean
language plpgsql volatile as $$
begin
  perform from organizations where id = organization for no key update;
  return (
    select count(*) from unnest(types) as of_type
    cross join lateral (
      select from events
      where organization_id = organization and sandbox = in_sandbox and type = of_type and left(id, 14) collate by_type >= since
        and session_id is null) as sent) < most;
end
$$;

-- The planner knows nothing yet of what is indexed here.
analyze events, webhook_deliveries, audit_logs;
