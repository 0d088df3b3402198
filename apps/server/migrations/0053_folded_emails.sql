-- One form of an e-mail address, made by the application alone (packages/contract/src/email.ts): what is looked up, unique and counted. The
-- database only compares it. Null until the application has filled it in, which it does before it answers its first request, and for what an
-- older process still writes, soon after.
alter table users add column email_folded text;
-- Set for an account whose address is none by these rules, or is that of another account. It keeps everything and is not found by its address;
-- the operator gives it another one.
alter table users add column email_set_aside_at timestamptz(3);
create unique index users_email_folded on users (email_folded);
create index users_email_unfolded on users (id) where email_folded is null and email_set_aside_at is null;

alter table invitations add column email_folded text;
create unique index invitations_email_folded on invitations (organization_id, email_folded);
create index invitations_for_email on invitations (email_folded);

-- users_email and invitations_address, which are made with lower(), stay for processes of the version before. Nothing reads them any more.
