-- Why the last try of a reading device was refused, so that the person's own page can say it; null: it passed, or there was none.
-- The row goes when the session ends.
alter table attempt_sockets add column failure_code text, add column unmet_requirement text;
