-- phase: expand
-- Where other processes reach the one that has a chip that has passed, so that a device which comes to another one goes on there. An address of ours; the chip itself is in no table. The
-- row goes when the session ends.
alter table attempt_sockets add column held_at text;
