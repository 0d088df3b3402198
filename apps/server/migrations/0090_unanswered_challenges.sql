-- phase: expand
-- What a reading device was given since the last verdict on a face without answering it, and how often its frames brought the check down. Both decide what it gets next, at
-- whichever process it asks. The row goes when the session ends.
alter table attempt_sockets add column unanswered_challenges smallint not null default 0, add column face_breakdowns smallint not null default 0;
