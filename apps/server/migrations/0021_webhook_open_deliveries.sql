-- Listing what is still open of an organization must not walk through everything it ever received.
create index webhook_deliveries_open on webhook_deliveries (organization_id, id desc) where status in ('pending', 'delivering');

-- Finding whose deliveries came due in the last seconds must not look at every queue.
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at, endpoint_id) where status = 'pending';
