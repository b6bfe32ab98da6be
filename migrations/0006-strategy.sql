-- Why: keeps every signal as a trade of the shadow book, and how markets were settled, so that the track record can be
-- computed again from what is stored; and the paper trades of customers. The rows outlive the market, so they have its public id.

-- How markets that were analysed or traded were settled. A corrected result is a new row; the latest row of a market counts.
create table market_settlements (
  settlement_id int8 generated always as identity primary key,
  venue text not null,
  market_id text not null,
  outcome text not null check (outcome in ('yes', 'no', 'partial', 'void')),
  -- Payout of one YES contract; null if stakes are refunded.
  value float8 check (value >= 0 and value <= 1),
  -- When the venue settled the market.
  resolved_at timestamptz not null,
  -- When this row was written. Profit and loss is booked on the day of this time.
  recorded_at timestamptz not null
);

create index market_settlements_by_market on market_settlements (venue, market_id, settlement_id);
create index market_settlements_by_time on market_settlements (resolved_at);
create index market_settlements_by_record on market_settlements (recorded_at);

-- The shadow book: one purchase per analysis and side. The columns up to `entered_at` never change.
create table shadow_trades (
  trade_id int8 generated always as identity primary key,
  analysis_id text not null,
  venue text not null,
  market_id text not null,
  title text not null,
  category text,
  side text not null check (side in ('yes', 'no')),
  contracts float8 not null check (contracts > 0),
  -- Average price of the bought side, without the fee.
  price float8 not null check (price > 0 and price < 1),
  -- Taker fee of the whole order.
  fee_usd float8 not null check (fee_usd >= 0),
  -- Estimated probability of YES, and the YES price, when the signal was given.
  probability float8 not null,
  market_price float8 not null,
  -- Probability of the side minus cost per contract, fee included.
  edge float8 not null,
  -- Share of the reference bankroll.
  size_pct float8 not null,
  entered_at timestamptz not null,
  -- The result, once the market is settled: when it became known, what it pays, and the payout minus the cost, fee included.
  -- A corrected result changes the two amounts.
  settled_at timestamptz,
  payout_usd float8,
  pnl_usd float8,
  -- Whether the trade exists because a caller asked for a signal or an analysis.
  is_requested boolean not null default false,
  unique (analysis_id, side),
  check ((settled_at is null) = (payout_usd is null) and (settled_at is null) = (pnl_usd is null))
);

create index shadow_trades_open on shadow_trades (venue, market_id) where settled_at is null;
create index shadow_trades_by_market on shadow_trades (venue, market_id, trade_id);
create index shadow_trades_by_time on shadow_trades (entered_at);
-- Computes the track record without the requested trades from the few requested ones, not from all trades.
create index shadow_trades_requested on shadow_trades (venue, market_id) where is_requested;

-- YES prices of markets with open trades at the end of each UTC day.
create table shadow_marks (
  day date not null,
  venue text not null,
  market_id text not null,
  yes_price float8 not null,
  primary key (venue, market_id, day)
);

-- State of the shadow book. Whoever adds entries, marks or settlements locks the row first.
create table shadow_book (
  is_only boolean primary key default true check (is_only),
  -- Last UTC day to which nothing can be added any more. Its totals are computed afterwards.
  sealed_day date,
  -- Last event of the event log that was read for settlements.
  events_through int8 not null default 0,
  -- When a node last reserved a run of the job.
  reserved_at timestamptz,
  -- Totals of all resolved trades. Amounts and edges are in 1e-6.
  resolved_trades int8 not null default 0,
  won_trades int8 not null default 0,
  resolved_markets int8 not null default 0,
  resolved_cost_micros int8 not null default 0,
  resolved_pnl_micros int8 not null default 0,
  resolved_edge_micros int8 not null default 0,
  -- When the open trades were last valued at the prices of the current day.
  marked_at timestamptz
);

-- Totals of each closed UTC day, computed from the trades, marks and settlements.
create table shadow_days (
  day date primary key,
  pnl_usd float8 not null,
  entered_trades int4 not null,
  resolved_trades int4 not null,
  won_trades int4 not null
);

-- Purchases that customers record by hand without trading.
create table paper_trades (
  trade_id int8 generated always as identity primary key,
  customer_id text not null,
  venue text not null,
  market_id text not null,
  title text not null,
  side text not null check (side in ('yes', 'no')),
  -- As it was sent, because an idempotency key cannot be used for a different trade.
  size_usd float8 not null check (size_usd > 0 and size_usd <= 1000000),
  contracts float8 not null check (contracts > 0),
  price float8 not null check (price > 0 and price < 1),
  fee_usd float8 not null check (fee_usd >= 0),
  idempotency_key text,
  entered_at timestamptz not null
);

create index paper_trades_by_customer on paper_trades (customer_id, entered_at);
create index paper_trades_by_market on paper_trades (venue, market_id);
create unique index paper_trades_by_idempotency_key on paper_trades (customer_id, idempotency_key)
  where idempotency_key is not null;
-- The hourly cleanup deletes old trades.
create index paper_trades_by_time on paper_trades using brin (entered_at) with (pages_per_range = 32);
