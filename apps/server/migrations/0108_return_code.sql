-- phase: expand
-- SHA-256 of the code that the first browser of a session brings back to the partner; null until a browser has opened the session.
alter table sessions add column return_code_hash bytea;
