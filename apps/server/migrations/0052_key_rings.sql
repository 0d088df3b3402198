-- What every process must agree on before a key of the ring may seal, and before one may go. The fingerprint of a key is derived
-- from it one way; nothing here reveals a key.
create table key_ring_keys (
  id text primary key,
  fingerprint text not null,
  -- introduced: known, seals nothing yet. in_use: data may be sealed or hashed with it, so every process needs it; the one with
  -- the highest generation seals. retiring: seals no more, still needed to read. retired: nothing needs it.
  state text not null check (state in ('introduced', 'in_use', 'retiring', 'retired')),
  generation integer unique,
  introduced_at timestamptz(3) not null,
  used_from timestamptz(3),
  retired_at timestamptz(3),
  check ((generation is null) = (state = 'introduced'))
);

-- One row for each running process: which keys it has loaded (id:fingerprint), and which one it seals with.
create table key_ring_processes (
  id uuid primary key,
  name text not null,
  loaded text[] not null,
  seals_with text not null,
  seen_at timestamptz(3) not null
);

-- The hash of a request is sealed from now on, so that it moves to a new key with its answer. What was remembered before keeps
-- its keyed hash for the day that it lives.
alter table idempotent_answers alter column request_hash drop not null;
alter table idempotent_answers add column request_digest bytea;

alter table deletion_codes add column hash_key_id text;

-- The fence: whatever a process believes, nothing is stored under a key that is not in use. A process that was stopped for a
-- while and wakes up after its key was retired gets an error instead of writing what nobody can ever read. The shared lock is
-- held to the end of the writing transaction; whoever retires a key takes it alone, and so knows that no writer is left.
create function key_may_store(key_id text) returns boolean language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7205114302);
  return not exists (select from key_ring_keys k where k.id = key_id and k.state <> 'in_use');
end
$$;

create function sealed_under(sealed bytea) returns text language sql immutable as $$
  select case when length(sealed) > 1 then encode(substring(sealed from 2 for get_byte(sealed, 0)), 'escape') end
$$;

create function refuse_key() returns trigger language plpgsql as $$
begin
  raise exception 'a value for % is sealed or hashed with a key that is not in use', tg_table_name
    using errcode = 'AK001';
end
$$;

create trigger mails_content_key before insert or update of content on mails
  for each row when (not key_may_store(sealed_under(new.content))) execute function refuse_key();
create trigger mail_requests_email_key before insert or update of email on mail_requests
  for each row when (not key_may_store(sealed_under(new.email))) execute function refuse_key();
create trigger second_factors_secret_key before insert or update of secret on second_factors
  for each row when (not key_may_store(sealed_under(new.secret))) execute function refuse_key();
create trigger idempotent_answers_request_digest_key before insert or update of request_digest on idempotent_answers
  for each row when (new.request_digest is not null and not key_may_store(sealed_under(new.request_digest))) execute function refuse_key();
create trigger idempotent_answers_answer_key before insert or update of answer on idempotent_answers
  for each row when (new.answer is not null and not key_may_store(sealed_under(new.answer))) execute function refuse_key();
create trigger organizations_document_id_key_key before insert or update of document_id_key on organizations
  for each row when (new.document_id_key is not null and not key_may_store(sealed_under(new.document_id_key))) execute function refuse_key();
create trigger webhook_endpoints_signing_secret_key before insert or update of signing_secret on webhook_endpoints
  for each row when (not key_may_store(sealed_under(new.signing_secret))) execute function refuse_key();
create trigger receipt_keys_private_key_key before insert or update of private_key on receipt_keys
  for each row when (not key_may_store(sealed_under(new.private_key))) execute function refuse_key();
create trigger consent_receipt_keys_private_key_key before insert or update of private_key on consent_receipt_keys
  for each row when (not key_may_store(sealed_under(new.private_key))) execute function refuse_key();
create trigger api_keys_hash_key_id_key before insert or update of hash_key_id on api_keys
  for each row when (not key_may_store(new.hash_key_id)) execute function refuse_key();
create trigger deletion_codes_hash_key_id_key before insert or update of hash_key_id on deletion_codes
  for each row when (new.hash_key_id is not null and not key_may_store(new.hash_key_id)) execute function refuse_key();
