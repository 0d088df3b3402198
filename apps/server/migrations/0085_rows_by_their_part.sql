-- phase: expand
-- Nothing changes. Code that contains this migration finds rows by their part and their place in it; code from before knows the place alone, which several rows have in a table
-- that is kept in parts, and would delete those of others. So nothing is divided while such code runs, and before the first table is, `least_code` of this migration is set,
-- which keeps such code from starting.
select 1;
