-- What was sent and answered in an attempt that the receiver did not accept, for whoever has to find out why. An answer may repeat what it was
-- given, so a row is here for as long as the payload of its delivery, and not a moment longer.
create table webhook_exchanges (
  delivery_id text collate "C" not null,
  attempt_id text collate "C" not null,
  organization_id uuid not null,
  -- The signatures of the request; its other headers follow from the delivery.
  signature text not null,
  standard_signature text not null,
  -- Null when there was no answer.
  status_line text,
  answer text,
  answer_is_cut boolean not null,
  primary key (delivery_id, attempt_id)
);
alter table webhook_exchanges alter column signature set statistics 0, alter column standard_signature set statistics 0,
  alter column status_line set statistics 0, alter column answer set statistics 0;

create function forget_exchanges() returns trigger language plpgsql as $$
begin
  delete from webhook_exchanges where delivery_id = old.id;
  return null;
end
$$;
-- Payloads are removed in many places; here it holds for all of them, those of the version before included. A delivery that arrives at its first
-- try, as most do, has nothing to forget and does not get as far as the function.
create trigger webhook_deliveries_scrubbed after update of payload on webhook_deliveries for each row
  when (old.payload is not null and new.payload is null and old.attempt_count > 0) execute function forget_exchanges();
create trigger webhook_deliveries_deleted after delete on webhook_deliveries for each row
  when (old.payload is not null and old.attempt_count > 0) execute function forget_exchanges();

-- Test events are those that belong to no session, whatever type they are a sample of. They are counted in each environment.
drop function has_fewer_events(uuid, text, text, integer);
create function has_fewer_test_events(organization uuid, in_sandbox boolean, since text, most integer) returns boolean
language plpgsql as $$
begin
  perform from organizations where id = organization for no key update;
  return (
    select count(*) from events
    where organization_id = organization and sandbox = in_sandbox and id collate by_organization >= since
      and session_id is null) < most;
end
$$;
