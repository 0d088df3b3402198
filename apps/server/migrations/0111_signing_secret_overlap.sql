-- phase: expand
-- The secret before the last rotation, sealed like the current one, for as long as deliveries carry its signature too.
alter table webhook_endpoints add column previous_signing_secret bytea, add column previous_signing_secret_until timestamptz;
create trigger webhook_endpoints_previous_signing_secret_key before insert or update of previous_signing_secret on webhook_endpoints
  for each row when (new.previous_signing_secret is not null and not key_may_store(sealed_under(new.previous_signing_secret))) execute function refuse_key();
