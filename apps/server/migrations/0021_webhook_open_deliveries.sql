-- Listing what is still open of an organization must not walk through everything it ever received.
create index webhook_deliveries_open on webhook_deliveries (organization_id, id desc) where status in ('pending', 'delivering');
