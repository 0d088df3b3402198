-- What belongs to an environment says so itself, with the column that sessions, events and the figures of a day have already. What exists
-- is where it came to be: sessions and events say it, attempts and deliveries follow them, keys and endpoints have the environment of their organization.
--
-- A column with a default costs nothing, however large the table; only the rows of the other environment are written. Where there are many
-- rows, most are live, so that is the default there. The defaults go at once: whoever writes a row says where it belongs.
alter table api_keys add column sandbox boolean not null default true;
update api_keys k set sandbox = false from organizations o where o.id = k.organization_id and o.environment = 'live';
alter table api_keys alter column sandbox drop default;

alter table webhook_endpoints add column sandbox boolean not null default true;
update webhook_endpoints e set sandbox = false from organizations o where o.id = e.organization_id and o.environment = 'live';
alter table webhook_endpoints alter column sandbox drop default;

alter table attempts add column sandbox boolean not null default false;
alter table webhook_deliveries add column sandbox boolean not null default false;
-- Before the rows are written, so that they have fewer indexes to be put into; those below are made afterwards.
drop index sessions_organization, sessions_status, sessions_reference, attempts_organization, attempts_status,
  events_organization, events_type, webhook_deliveries_organization, webhook_deliveries_endpoint, api_keys_organization,
  webhook_endpoints_organization;
update attempts a set sandbox = true from sessions s where s.id = a.session_id and s.sandbox;
-- An event may be purged a moment before its deliveries are; these are then where their organization is.
update webhook_deliveries d set sandbox = true
from organizations o
where o.id = d.organization_id
  and coalesce((select e.sandbox from events e where e.id = d.event_id), o.environment = 'sandbox');
alter table attempts alter column sandbox drop default;
alter table webhook_deliveries alter column sandbox drop default;

alter table webhook_delivery_queue add column sandbox boolean not null default false;
update webhook_delivery_queue q set sandbox = true
from webhook_deliveries d where d.id = q.delivery_id and d.sandbox;
alter table webhook_delivery_queue alter column sandbox drop default,
  drop constraint webhook_delivery_queue_pkey, add primary key (organization_id, sandbox, delivery_id);

-- How many sessions may be open is counted in each environment. The rows hold nothing that is not counted again when it is missing.
delete from session_allowances;
alter table session_allowances add column sandbox boolean not null,
  drop constraint session_allowances_pkey, add primary key (organization_id, sandbox);

-- Null for what the environments share, and for entries from before.
alter table audit_logs add column sandbox boolean;

-- The lists of before, with the environment right after the organization: a list is one range of an index as it was, and however much is in the
-- other environment, nothing of it is read.
create index sessions_organization on sessions (organization_id, sandbox, id collate by_organization desc);
create index sessions_status on sessions (organization_id, sandbox, status, id collate by_status desc);
create index sessions_reference on sessions (organization_id, sandbox, client_reference_id, status, id collate by_reference desc)
  where client_reference_id is not null;
create index attempts_organization on attempts (organization_id, sandbox, id collate by_organization desc);
create index attempts_status on attempts (organization_id, sandbox, status, id collate by_status desc);
create index events_organization on events (organization_id, sandbox, id collate by_organization desc);
create index events_type on events (organization_id, sandbox, type, id collate by_type desc);
create index webhook_deliveries_organization
  on webhook_deliveries (organization_id, sandbox, failed, id collate by_organization desc);
create index webhook_deliveries_endpoint
  on webhook_deliveries (endpoint_id, organization_id, sandbox, failed, id collate by_endpoint desc);
create index api_keys_organization on api_keys (organization_id, sandbox, id desc);
create index webhook_endpoints_organization on webhook_endpoints (organization_id, sandbox, id desc);
