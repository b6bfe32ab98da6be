-- Why: stores what a language model said about uncertain matches, by the texts of both markets, so that the same texts are
-- judged once, by one node, also after a restart. A row without a relation is a call that is running, was interrupted or
-- failed.
create table match_judgements (
  text_hash text primary key,
  relation text check (relation in ('identical', 'inverse', 'subset', 'superset', 'overlap', 'different')),
  reason text,
  model text not null,
  attempts int4 not null,
  -- USD of all attempts. A running call has its maximum cost, so that a killed process does not exceed the budget.
  cost_usd float8 not null,
  asked_at timestamptz not null
);

create index match_judgements_by_time on match_judgements (asked_at);
