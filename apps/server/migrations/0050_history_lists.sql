-- Lists of deliveries, events and audit entries are read like those of sessions: one index for each way to list, each with a
-- collation of its own, so that a list can be read from no other index than the one that is meant for it.
create collation by_endpoint (provider = libc, locale = 'C');
create collation by_event (provider = libc, locale = 'C');
create collation by_type (provider = libc, locale = 'C');
create collation by_session (provider = libc, locale = 'C');
create collation by_actor (provider = libc, locale = 'C');
create collation by_actor_event (provider = libc, locale = 'C');

drop index webhook_deliveries_organization, webhook_deliveries_failed, webhook_deliveries_open, webhook_deliveries_endpoint,
  webhook_deliveries_event;
create index webhook_deliveries_organization on webhook_deliveries (organization_id, id collate by_organization desc);
create index webhook_deliveries_status on webhook_deliveries (organization_id, status, id collate by_status desc);
-- With or without a status. The endpoint comes first for what ends all deliveries of an endpoint that is gone.
create index webhook_deliveries_endpoint
  on webhook_deliveries (endpoint_id, organization_id, status, id collate by_endpoint desc);
create index webhook_deliveries_event on webhook_deliveries (event_id, id collate by_event desc);

-- Nothing asks for the time of creation any more: it is the beginning of the id.
drop index events_organization, events_session, events_age;
create index events_organization on events (organization_id, id collate by_organization desc);
create index events_type on events (organization_id, type, id collate by_type desc);
create index events_session on events (session_id, id collate by_session desc) where session_id is not null;

-- A uuid has no collation, its text has; both order alike.
drop index audit_logs_organization, audit_logs_event, audit_logs_actor, audit_logs_age;
create index audit_logs_organization on audit_logs (organization_id, (id::text collate by_organization) desc);
create index audit_logs_event on audit_logs (organization_id, event, (id::text collate by_event) desc);
create index audit_logs_actor on audit_logs (organization_id, actor_id, (id::text collate by_actor) desc)
  where actor_id is not null;
create index audit_logs_actor_event
  on audit_logs (organization_id, actor_id, event, (id::text collate by_actor_event) desc)
  where actor_id is not null;
