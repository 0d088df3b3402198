-- phase: expand
-- The first characters of an API key, by which people recognize it. Keys from before have none.
alter table api_keys add column key_prefix text;
alter table api_keys alter column key_prefix set statistics 0;
