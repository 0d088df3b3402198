-- phase: expand
-- small: api_keys, organizations
-- The person who made an API key, or an organization. The key outlives their membership, so owners must see whose it is; what one person may
-- have is counted over all organizations that they made. Null where the account is gone. What is there already is filled in from the audit log.
alter table api_keys add column created_by uuid references users (id) on delete set null;
create index api_keys_creator on api_keys (created_by);
update api_keys k set created_by = u.id
from audit_logs a join users u on u.id::text = a.actor_id
where a.organization_id = k.organization_id and a.event = 'api_key.created' and a.target_id = k.id::text and a.actor_kind = 'user';

alter table organizations add column created_by uuid references users (id) on delete set null;
create index organizations_creator on organizations (created_by);
update organizations o set created_by = u.id
from audit_logs a join users u on u.id::text = a.actor_id
where a.organization_id = o.id and a.event = 'organization.created' and a.actor_kind = 'user';
