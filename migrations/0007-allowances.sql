-- Why: stores custom quotas and rate limits of enterprise customers; null means those of the plan.
alter table customers add column quotas jsonb;

alter table customers add column rate_limits jsonb;

-- Updates the demo customer of an existing sandbox; new sandboxes set these limits when they create the key.
update customers set
  quotas = '{"LISTING": 1000000, "INSIGHT": 1000000, "STRATEGY": 1000000, "DEEP": 1000000}',
  rate_limits = '{"general": 6000, "strategy": 6000}'
where customer_id = 'cus-demoenterpriseaaaaaaaaaaaa';
