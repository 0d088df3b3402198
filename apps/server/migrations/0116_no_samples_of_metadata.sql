-- phase: expand
-- Statistics of the index's expression would keep samples of metadata after its organization was deleted.
alter index sessions_metadata alter column 1 set statistics 0;
