-- What changes while a delivery is open has a table of its own: the delivery's row is written when it is published, when an attempt failed, and
-- when it ends. A row is here from then until the delivery has ended.
create table webhook_delivery_queue (
  organization_id uuid not null,
  delivery_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  -- When the next attempt is due. It stays as it is while the delivery is being sent.
  due_at timestamptz(3) not null,
  -- Tries of the schedule that is running; a retry by hand starts it again.
  tries_used integer not null,
  -- Who is sending it, and until when nobody else will. The number grows with every lease, so that a process that lost its lease cannot
  -- record a result.
  lease_number integer not null,
  lease_owner uuid,
  lease_until timestamptz(3),
  -- The payload was scrubbed while it was being sent: the result is recorded, and it is not sent again.
  scrubbed boolean not null,
  changed_at timestamptz(3) not null,
  -- Serves the lists of what is pending or being sent, and every look at one delivery.
  primary key (organization_id, delivery_id)
  -- No index has a column that a claim changes, and half of each page is left for the new versions of its rows: so a claim writes a
  -- row and nothing else (a heap-only tuple). Rows come and go quickly; the file keeps its size, and the planner learns soon how full it is.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 2000, vacuum_truncate = false);
-- Serves the claim, which reads the head of one endpoint's queue, the look for queues with something due, and the end of a deleted endpoint.
create index webhook_delivery_queue_head on webhook_delivery_queue (endpoint_id, due_at);
-- Serves the look, once a second, for what came due in the last seconds, which must not look at every queue. There are no nulls; that they
-- come first makes it an order that no claim asks for, so that a claim is never read from this index, however the queue looked when it was planned.
create index webhook_delivery_queue_due on webhook_delivery_queue (due_at nulls first);

insert into webhook_delivery_queue (organization_id, delivery_id, endpoint_id, due_at, tries_used, lease_number, lease_owner,
  lease_until, scrubbed, changed_at)
select organization_id, id, endpoint_id, coalesce(next_attempt_at, updated_at), tries_used, lease_number, lease_owner, lease_until,
  payload is null, updated_at
from webhook_deliveries where status in ('pending', 'delivering');

-- The lists by status no longer name the status in an index: then a delivery that arrives changes no indexed column, and its end too is a
-- heap-only tuple. Those that failed are few and marked apart; those that are open are in the queue; all others have arrived.
alter table webhook_deliveries
  add column failed boolean not null default false,
  -- When the payload of a delivery that failed is to be scrubbed; null where there is none, or when it is done.
  add column scrub_at timestamptz(3);
drop index webhook_deliveries_queue, webhook_deliveries_due, webhook_deliveries_leases, webhook_deliveries_status,
  webhook_deliveries_organization, webhook_deliveries_endpoint, webhook_deliveries_event, webhook_deliveries_expiry;
update webhook_deliveries set failed = true, scrub_at = case when payload is null then null else payload_expires_at end
where status = 'failed';
update webhook_deliveries set status = 'pending' where status = 'delivering';
alter table webhook_deliveries drop constraint webhook_deliveries_status_check,
  add constraint webhook_deliveries_status_check check (status in ('pending', 'succeeded', 'failed')),
  drop column next_attempt_at, drop column tries_used, drop column lease_owner, drop column lease_number, drop column lease_until,
  -- Room in each page for the rows as they are at their end, which are without a payload.
  set (fillfactor = 80);
-- Serves the lists of an organization with and without a status, and the deliveries of an event: an id begins with the time of its making, and
-- an event and its deliveries are made at the same time.
create index webhook_deliveries_organization
  on webhook_deliveries (organization_id, failed, id collate by_organization desc);
-- Serves the same lists of one endpoint, and the end of all deliveries of an endpoint that is gone.
create index webhook_deliveries_endpoint
  on webhook_deliveries (endpoint_id, organization_id, failed, id collate by_endpoint desc);
-- Serves the job that scrubs payloads whose time is over.
create index webhook_deliveries_scrub on webhook_deliveries (scrub_at) where scrub_at is not null;

-- Serves the attempts of a delivery. Nothing asks for an attempt by its id alone.
alter table webhook_attempts drop constraint webhook_attempts_pkey, add primary key (delivery_id, id);
drop index webhook_attempts_delivery;

-- Whether an organization has had fewer events of a type than `most` since then. The row of the organization is held until the end of the
-- transaction, and what is counted is read after it is held: each statement of a function sees what is committed when it begins.
create function has_fewer_events(organization uuid, event_type text, since text, most integer) returns boolean
language plpgsql volatile as $$
begin
  perform from organizations where id = organization for no key update;
  return (
    select count(*) from events
    where organization_id = organization and type = event_type and id collate by_type >= since) < most;
end
$$;
