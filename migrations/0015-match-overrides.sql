-- Why: operators decide that two markets of different venues match, or never match. The decisions replace those of the model
-- and outlive the markets, so they have public ids, as `venue/market_id`. The order of ids is that of their bytes.
create table match_overrides (
  market_a text collate "C" not null,
  market_b text collate "C" not null,
  decision text not null check (decision in ('identical', 'inverse', 'forbidden')),
  note text,
  decided_by text not null,
  decided_at timestamptz not null,
  primary key (market_a, market_b),
  check (market_a < market_b)
);
