-- A deletion whose rows are gone, and whose texts may still be in the files of the database. What the receipt is to say waits here,
-- sealed, until the files are clean; then the receipt is sent and the row goes.
create table deletion_receipts (
  organization_id uuid primary key,
  content bytea not null,
  -- Every transaction that deleted something has a number below this one.
  gone_before bigint not null,
  rows_gone_at timestamptz(3) not null,
  -- Set when cleaning took too long: it keeps others waiting, so it is not tried again at once.
  retry_at timestamptz(3)
);
create trigger deletion_receipts_content_key before insert or update of content on deletion_receipts
  for each row when (not key_may_store(sealed_under(new.content))) execute function refuse_key();

-- When a table was last written anew without what had been deleted from it. `horizon`: what transactions before this number deleted
-- is gone from its files. `changes`: deleted and changed rows that PostgreSQL had counted by then.
create table table_cleanings (
  table_name text primary key,
  horizon bigint not null,
  changes bigint not null,
  cleaned_at timestamptz(3) not null
);

-- ANALYZE keeps samples of the values of a column in pg_statistic, where no deletion reaches them: of a table that has become
-- empty they stay for ever. No plan needs those of texts: they are looked up through unique indexes, or through the one
-- index that a list names by its collation.
alter table organizations alter column name set statistics 0, alter column slug set statistics 0,
  alter column logo_url set statistics 0, alter column website_url set statistics 0,
  alter column support_email set statistics 0, alter column privacy_url set statistics 0,
  alter column terms_url set statistics 0, alter column business_name set statistics 0,
  alter column business_jurisdiction set statistics 0, alter column business_registration_number set statistics 0;
alter table api_keys alter column name set statistics 0;
alter table audit_logs alter column details set statistics 0;
alter table consents alter column receipt set statistics 0;
alter table domain_challenges alter column apex_domain set statistics 0;
alter table verified_domains alter column apex_domain set statistics 0;
alter table redirect_uris alter column pattern set statistics 0;
alter table events alter column client_reference_id set statistics 0;
alter table sessions alter column share_fields set statistics 0, alter column redirect_url set statistics 0,
  alter column client_reference_id set statistics 0, alter column metadata set statistics 0;
alter table webhook_endpoints alter column name set statistics 0, alter column url set statistics 0;
alter table webhook_keys alter column key_id set statistics 0, alter column n set statistics 0;
alter table webhook_deliveries alter column payload set statistics 0;
alter table invitations alter column email set statistics 0;
alter table invitations alter column email_folded set statistics 0;
alter index invitations_address alter column 2 set statistics 0;
alter table mails alter column content set statistics 0;
alter table idempotent_answers alter column answer set statistics 0;
alter table deletion_receipts alter column content set statistics 0;
alter table users alter column name set statistics 0, alter column email set statistics 0,
  alter column email_folded set statistics 0,
  alter column password_hash set statistics 0;
alter index users_email alter column 1 set statistics 0;
alter table mailed_tokens alter column email set statistics 0;
alter table passkeys alter column name set statistics 0;
alter table user_sessions alter column user_agent set statistics 0;

-- Samples from before. PostgreSQL 18 lets the owner of a table clear them; earlier ones only a superuser, and where we are none
-- they stay (docs/operating.md says what to do).
do $$
declare
  sampled record;
begin
  for sampled in
    select c.relname, a.attname, a.attrelid, a.attnum
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and a.attstattarget = 0 and a.attnum > 0 and not a.attisdropped
  loop
    if current_setting('server_version_num')::integer >= 180000 then
      execute format('select pg_clear_attribute_stats(%L, %L, %L, false)', current_schema(), sampled.relname, sampled.attname);
    else
      delete from pg_statistic where starelid = sampled.attrelid and staattnum = sampled.attnum;
    end if;
  end loop;
exception when insufficient_privilege then
  raise notice 'samples of texts from before stay in pg_statistic';
end
$$;
