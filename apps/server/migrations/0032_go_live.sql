alter table organizations
  add column business_type text not null default 'sole' check (business_type in ('sole', 'business')),
  add column business_name text,
  add column business_jurisdiction text,
  add column business_registration_number text,
  add column live_at timestamptz(3);

-- What was accepted, by whom and when, is kept as long as the organization is: it is evidence.
create table rp_terms_acceptances (
  id uuid primary key,
  organization_id uuid not null references organizations (id),
  terms_version text not null,
  terms_hash text not null,
  jurisdiction text not null,
  accepted_by uuid not null,
  accepted_at timestamptz(3) not null
);
create unique index rp_terms_acceptances_terms
  on rp_terms_acceptances (organization_id, terms_version, terms_hash, jurisdiction);
create index rp_terms_acceptances_organization on rp_terms_acceptances (organization_id, id desc);
