-- phase: expand
-- What sessions have in common, saved by partners under a name. `folded_name` is the name in lower case, for uniqueness and lookup.
-- A session keeps what its template said, so nothing refers to a template but the id on the session.
create table session_templates (
  id text collate "C" primary key,
  organization_id uuid not null references organizations (id),
  sandbox boolean not null,
  name text not null,
  folded_name text not null,
  share_fields json,
  methods text[],
  requirements jsonb,
  locale text,
  redirect_url text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint session_templates_name unique (organization_id, sandbox, folded_name)
);
create index session_templates_organization on session_templates (organization_id, sandbox, id desc);
-- Statistics would keep samples of texts after their organization was deleted.
alter table session_templates alter column name set statistics 0, alter column folded_name set statistics 0,
  alter column share_fields set statistics 0, alter column requirements set statistics 0,
  alter column locale set statistics 0, alter column redirect_url set statistics 0;
alter table sessions add column template_id text;
