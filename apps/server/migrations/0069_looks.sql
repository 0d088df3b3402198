-- The colour of a partner on the page of the person, and a logo that was uploaded. The picture is public, and is in a table of its own, so that reading
-- an organization does not carry it along.
alter table organizations add column brand_color text check (brand_color ~ '^#[0-9a-f]{6}$');
create table organization_logos (
  organization_id uuid primary key references organizations (id),
  content_type text not null,
  bytes bytea not null,
  uploaded_at timestamptz(3) not null
);
-- As for every text of an organization: what the planner would sample of it outlives its deletion.
alter table organizations alter column brand_color set statistics 0;
alter table organization_logos alter column content_type set statistics 0, alter column bytes set statistics 0;
