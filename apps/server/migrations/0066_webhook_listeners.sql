-- An endpoint is a URL that is sent to, or a listener: a program of the partner's that opens a stream and gets its deliveries through it.
-- The url of a listener is `listener:` and its id, so that whoever reads endpoints finds a text there as before.
alter table webhook_endpoints
  add column kind text not null default 'url',
  -- The stream that gets the deliveries of a listener. A newer stream takes its place, whichever process holds it.
  add column listener_stream_id uuid,
  -- When a stream of the listener was last open. One that is away for too long is removed.
  add column listener_seen_at timestamptz(3);
-- For the job that removes them. The time is not in the index, so that noting it writes no index entry.
create index webhook_endpoints_listeners on webhook_endpoints (id) where kind = 'listener';
