-- phase: expand
-- transaction: none
-- Open sessions of the sandbox that live less than an hour, by their expiry. When the others expire follows from their ids.
create index concurrently if not exists sessions_short_lived
  on sessions (expires_at) where status in ('created', 'in_progress') and expires_at - created_at < interval '1 hour';
