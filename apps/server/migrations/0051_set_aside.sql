-- A request that fails every time is set aside, so that those behind it are answered.
alter table mail_requests
  add column set_aside_at timestamptz(3),
  -- The state or the kind of the failure, never a value.
  add column set_aside_reason text,
  add check ((set_aside_at is null) = (set_aside_reason is null));
