create table webhook_endpoints (
  id text collate "C" primary key,
  organization_id uuid not null references organizations (id),
  name text,
  url text not null,
  enabled boolean not null,
  -- Null subscribes to every type, those of the future included.
  subscribed_event_types text[],
  undelivered_payload_retention_hours integer not null check (undelivered_payload_retention_hours in (0, 24, 72, 168)),
  -- Sealed under the key ring, bound to the endpoint's id.
  signing_secret bytea not null,
  disabled_at timestamptz(3),
  disabled_reason text,
  -- The first failed attempt since the last success; null while the last attempt succeeded or none was made.
  failing_since timestamptz(3),
  -- When the owners were last told that there is no active key.
  no_key_mailed_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index webhook_endpoints_organization on webhook_endpoints (organization_id, id desc);

create sequence webhook_key_activations;
create table webhook_keys (
  id text collate "C" primary key,
  endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
  organization_id uuid not null,
  key_id text not null,
  n text not null,
  e text not null,
  is_active boolean not null,
  -- The key that was activated last, the one with the highest number, is the one that is used.
  activation_number bigint not null,
  deactivated_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index webhook_keys_key_id on webhook_keys (endpoint_id, key_id);
create index webhook_keys_organization on webhook_keys (organization_id, key_id);

-- One row for each event and endpoint; the table is also the queue.
create table webhook_deliveries (
  id text collate "C" primary key,
  organization_id uuid not null,
  event_id text collate "C" not null,
  event_type text not null,
  endpoint_id text collate "C" not null,
  encryption_key_id text collate "C",
  status text not null check (status in ('pending', 'delivering', 'succeeded', 'failed')),
  -- The compact JWE as it is sent. Null once it is scrubbed.
  payload text,
  attempt_count integer not null,
  -- Tries of the schedule that is running; a retry by hand starts it again.
  tries_used integer not null,
  next_attempt_at timestamptz(3),
  last_status_code integer,
  last_error text,
  last_attempt_at timestamptz(3),
  payload_expires_at timestamptz(3),
  payload_scrubbed_at timestamptz(3),
  -- Who is sending it. The number grows with every lease, so that a process that lost its lease cannot record a result.
  lease_owner uuid,
  lease_number integer not null,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
-- Encrypted text does not compress, so no time is spent on trying.
alter table webhook_deliveries alter column payload set storage external;
-- A queue for each endpoint: claiming reads the head of one queue, whatever stands in the others.
create index webhook_deliveries_queue on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_leases on webhook_deliveries (lease_until) where status = 'delivering';
create index webhook_deliveries_event on webhook_deliveries (event_id);
create index webhook_deliveries_organization on webhook_deliveries (organization_id, id desc);
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id desc);
create index webhook_deliveries_failed on webhook_deliveries (organization_id, id desc) where status = 'failed';
create index webhook_deliveries_expiry on webhook_deliveries (payload_expires_at)
  where payload is not null and payload_expires_at is not null;

create table webhook_attempts (
  id text collate "C" primary key,
  delivery_id text collate "C" not null,
  organization_id uuid not null,
  status_code integer,
  error text,
  duration_ms integer not null,
  attempted_at timestamptz(3) not null
);
create index webhook_attempts_delivery on webhook_attempts (delivery_id, id);
