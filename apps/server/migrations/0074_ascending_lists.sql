-- The indexes of the lists, from the oldest to the newest. They were made from the newest on, as the lists are read; but then every new id goes to
-- the front of its list, a page that is full is split in the middle and its right half is never filled again: half of each index is air, and a split writes half
-- a page of WAL. New ids at the end leave full pages behind where the end is that of the whole index, as with one organization, and a list is read
-- backwards, which costs the same. With many organizations that are busy at once nothing is lost and little won: for keys this wide PostgreSQL recognises the
-- end of the whole index only.
drop index sessions_organization, sessions_status, sessions_reference, attempts_organization, attempts_status,
  events_organization, events_type, events_session, webhook_deliveries_organization, webhook_deliveries_endpoint,
  audit_logs_organization, audit_logs_event, audit_logs_actor, audit_logs_actor_event;

-- Serves the list of all sessions of an organization.
create index sessions_organization on sessions (organization_id, sandbox, id collate by_organization);
-- Serves the list by status, the count of open sessions and the figures of what is open.
create index sessions_status on sessions (organization_id, sandbox, status, id collate by_status);
-- Serves the list by reference, with or without a status.
create index sessions_reference on sessions (organization_id, sandbox, client_reference_id, status, id collate by_reference)
  where client_reference_id is not null;
-- Serves the list of all attempts of an organization.
create index attempts_organization on attempts (organization_id, sandbox, id collate by_organization);
-- Serves the list by status.
create index attempts_status on attempts (organization_id, sandbox, status, id collate by_status);
-- Serves the lists of events, by type and of all: there are few types, and a page of each is merged.
create index events_type on events (organization_id, sandbox, type, id collate by_type);
-- Serves the events of a session.
create index events_session on events (session_id, id collate by_session) where session_id is not null;
-- Serves the lists of an organization with and without a status, and the deliveries of an event.
create index webhook_deliveries_organization
  on webhook_deliveries (organization_id, sandbox, failed, id collate by_organization);
-- Serves the same lists of one endpoint, and the end of all deliveries of an endpoint that is gone.
create index webhook_deliveries_endpoint
  on webhook_deliveries (endpoint_id, organization_id, sandbox, failed, id collate by_endpoint);
-- Serves the list of all audit entries.
create index audit_logs_organization on audit_logs (organization_id, (id::text collate by_organization));
-- Serves the list by event.
create index audit_logs_event on audit_logs (organization_id, event, (id::text collate by_event));
-- Serves the lists by actor, with an event and of all: there are a few dozen kinds of events, and a page of each is merged.
create index audit_logs_actor_event on audit_logs (organization_id, actor_id, event, (id::text collate by_actor_event))
  where actor_id is not null;
