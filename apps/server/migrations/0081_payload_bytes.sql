-- Sealed bodies are kept as bytes and not as the text that is sent, which writes every three bytes as four characters. Bodies from before keep their characters; what a
-- body begins with tells them apart (`apps/server/src/webhooks/stored-payload.ts`).
drop trigger webhook_deliveries_scrubbed on webhook_deliveries;
drop trigger webhook_deliveries_deleted on webhook_deliveries;
alter table webhook_deliveries alter column payload type bytea using convert_to(payload, 'UTF8');
create trigger webhook_deliveries_scrubbed after update of payload on webhook_deliveries for each row
  when (old.payload is not null and new.payload is null and old.attempt_count > 0) execute function forget_exchanges();
create trigger webhook_deliveries_deleted after delete on webhook_deliveries for each row
  when (old.payload is not null and old.attempt_count > 0) execute function forget_exchanges();
