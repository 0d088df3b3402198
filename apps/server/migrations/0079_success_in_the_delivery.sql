-- The attempt by which a delivery has arrived is told by the delivery's own row, which is written then in any case: a row of its own, with its index, was a tenth of the WAL of
-- an event. Null for deliveries from before, whose last attempt has a row.
alter table webhook_deliveries add column arrival_ms integer;
