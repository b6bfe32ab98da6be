-- Why: stores price history. Ticks are partitioned by day, so expired days can be dropped; charts are read from bars.
create table ticks (
  market_key int4 not null,
  event_at timestamptz not null,
  received_at timestamptz not null,
  bid int4,
  ask int4,
  last int4,
  yes_price int4,
  volume_total_usd float8,
  primary key (market_key, event_at)
) partition by range (event_at);

-- The roll-up reads the last minutes of all markets; without this index it would scan the whole day.
create index ticks_by_time on ticks using brin (event_at) with (pages_per_range = 32);

create table bars_5m (
  market_key int4 not null,
  start_at timestamptz not null,
  yes_open int4,
  yes_high int4,
  yes_low int4,
  yes_close int4,
  bid_close int4,
  ask_close int4,
  volume_usd float8,
  source text not null check (source in ('ticks', 'venue')),
  primary key (market_key, start_at)
);

create index bars_5m_by_time on bars_5m using brin (start_at);

create table bars_1h (
  market_key int4 not null,
  start_at timestamptz not null,
  yes_open int4,
  yes_high int4,
  yes_low int4,
  yes_close int4,
  bid_close int4,
  ask_close int4,
  volume_usd float8,
  source text not null check (source in ('ticks', 'venue')),
  primary key (market_key, start_at)
);

create index bars_1h_by_time on bars_1h using brin (start_at);

create table trades (
  market_key int4 not null,
  trade_id text not null,
  executed_at timestamptz not null,
  yes_price int4 not null,
  size float8 not null,
  taker_side text check (taker_side in ('yes', 'no')),
  primary key (market_key, trade_id)
);

create index trades_by_market_and_time on trades (market_key, executed_at);
create index trades_by_time on trades using brin (executed_at);

create table history_coverage (
  market_key int4 not null,
  interval_seconds int4 not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  primary key (market_key, interval_seconds, from_at)
);
