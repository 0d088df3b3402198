-- How far sessions get. When a person's page is first sent, and how many sessions of a day ended at which stage: counted with the outcome, as the rest of
-- the row is. Sessions that ended before are in none of the stages.
alter table sessions add column opened_at timestamptz(3);
alter table session_days add column stages jsonb not null default '{}';

-- The TXT record of a domain is public, and whoever looks after the DNS is often somebody else: it can be shown again. Null for what was begun before.
alter table domain_challenges add column record_value text;
alter table domain_challenges alter column record_value set statistics 0;
alter table verified_domains add column record_value text;
alter table verified_domains alter column record_value set statistics 0;
