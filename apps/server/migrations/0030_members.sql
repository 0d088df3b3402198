-- Membership gets an id of its own that starts with its creation time, so that members page newest first.
alter table memberships add column id uuid;
update memberships set id = gen_random_uuid();
alter table memberships alter column id set not null;
create unique index memberships_id on memberships (id);

create table invitations (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  email text not null,
  role text not null check (role in ('member', 'admin', 'owner')),
  -- SHA-256 of a 256-bit random token; the token itself is only in the mail.
  token_hash bytea not null,
  invited_by uuid references users (id) on delete set null,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create unique index invitations_address on invitations (organization_id, lower(email));
create unique index invitations_token on invitations (token_hash);
create index invitations_organization on invitations (organization_id, id desc);
create index invitations_inviter on invitations (invited_by);
create index invitations_expiry on invitations (expires_at);

-- 32 random bytes, sealed under the key ring. Identifiers of documents are made with it instead of with a key of the ring:
-- rotating the ring must not change them.
alter table organizations add column document_id_key bytea;
