-- Why: an enterprise customer has numbers of its own; null means those of the plan.
alter table customers add column quotas jsonb;

alter table customers add column rate_limits jsonb;

-- The demo customer of a sandbox made before this column; new ones get these numbers with their key.
update customers set
  quotas = '{"LISTING": 1000000, "INSIGHT": 1000000, "STRATEGY": 1000000, "DEEP": 1000000}',
  rate_limits = '{"general": 6000, "strategy": 6000}'
where customer_id = 'cus-demoenterpriseaaaaaaaaaaaa';
