-- phase: expand
-- What was done in a session, by step: `{"chip": {"tries": 1, "passed_at": "…"}, "face": {"tries": 2}}`. It replaces `nfc_tries_used`, `liveness_tries_used` and `chip_passed_at`,
-- which the release before reads and writes: the trigger keeps them alike. Open sessions are filled in here; those that have ended keep `{}` and are shown by the columns. A later
-- migration fills them in, and drops the columns, the trigger and both functions.
alter table sessions add column steps jsonb not null default '{}';
alter table sessions alter column steps set statistics 0;
-- The methods that the partner allows. Null is the default of the contract: almost every session has it, and null is read at no cost.
alter table sessions add column methods text[];

create function former_steps(chip_tries smallint, face_tries smallint, chip_passed_at timestamptz) returns jsonb language sql stable as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'chip', case when chip_tries > 0 then jsonb_build_object('tries', chip_tries, 'passed_at', chip_passed_at) end,
    'face', case when face_tries > 0 then jsonb_build_object('tries', face_tries) end))
$$;

-- Sessions that are open and were tried are few, and are found by their index.
do $$ begin
  update sessions set steps = former_steps(nfc_tries_used, liveness_tries_used, chip_passed_at)
  where status in ('created', 'in_progress') and nfc_tries_used + liveness_tries_used > 0;
end $$;

create function keep_steps() returns trigger language plpgsql as $$
begin
  if new.steps <> old.steps then
    new.nfc_tries_used := coalesce((new.steps #>> '{chip,tries}')::smallint, 0);
    new.liveness_tries_used := coalesce((new.steps #>> '{face,tries}')::smallint, 0);
    new.chip_passed_at := (new.steps #>> '{chip,passed_at}')::timestamptz;
  else
    new.steps := new.steps || former_steps(new.nfc_tries_used, new.liveness_tries_used, new.chip_passed_at);
  end if;
  return new;
end
$$;
create trigger sessions_keep_steps before update of steps, nfc_tries_used, liveness_tries_used, chip_passed_at on sessions
  for each row when (new.steps <> old.steps or new.nfc_tries_used <> old.nfc_tries_used or new.liveness_tries_used <> old.liveness_tries_used
    or new.chip_passed_at is distinct from old.chip_passed_at)
  execute function keep_steps();
