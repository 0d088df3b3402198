-- phase: expand
-- Whether an agent may change where results go, through the Model Context Protocol. Off until an owner turns it on.
alter table organizations add column agents_may_change_webhooks boolean not null default false;
