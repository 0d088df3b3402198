-- When a chip try of the session first passed. What was read is in no table, so a process that has lost it asks for it
-- again; that reading then costs no try.
alter table sessions add column chip_passed_at timestamptz(3);
