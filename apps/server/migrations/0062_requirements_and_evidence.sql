-- What the partner demands of the document (only what is required; nothing in it means that all is preferred), the language that the
-- person's page begins with, what a success rests on, and the demand that a document could not meet. All of it is words of our own.
alter table sessions
  add column requirements jsonb not null default '{}',
  add column locale text,
  add column evidence jsonb,
  add column unmet_requirement text;
alter table sessions alter column requirements set statistics 0, alter column locale set statistics 0,
  alter column evidence set statistics 0, alter column unmet_requirement set statistics 0;

-- A process of the version before knows no demands and would let every document pass: it writes no evidence, so it is refused. Not
-- validated, because no row from before has demands and the table may be large.
alter table sessions add constraint sessions_success_with_evidence
  check (status <> 'succeeded' or requirements = '{}' or evidence is not null) not valid;
