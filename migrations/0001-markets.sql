-- Why: stores the latest state of markets, events and quotes, so that after a restart the board is complete before the first
-- sweep; and what operators and customers add to markets: which of them match, and reported trades.

-- Position of a change of a market, an event or a quote. Nodes without the lease of a venue read its changes by position.
create sequence market_changes;

create table markets (
  key int4 generated always as identity primary key,
  venue text not null,
  market_id text not null,
  event_id text,
  title text not null,
  status text not null,
  updated_at timestamptz not null,
  snapshot text not null,
  announced_outcome text,
  position int8 not null default 0,
  unique (venue, market_id)
);

create index markets_by_position on markets (venue, position);

create table events (
  venue text not null,
  event_id text not null,
  listing text not null,
  position int8 not null default 0,
  primary key (venue, event_id)
);

create index events_by_position on events (venue, position);

create table quotes (
  market_key int4 primary key,
  venue text not null,
  position int8 not null,
  bid int4,
  ask int4,
  bid_size float8,
  ask_size float8,
  last int4,
  indicative int4,
  volume_24h_usd float8,
  volume_total_usd float8,
  liquidity_usd float8,
  open_interest_usd float8,
  event_at timestamptz,
  updated_at timestamptz not null
) with (fillfactor = 70);

create index quotes_by_position on quotes (venue, position);

create table status_changes (
  market_key int4 not null,
  changed_at timestamptz not null,
  from_status text,
  to_status text not null,
  outcome jsonb,
  primary key (market_key, changed_at, to_status)
);

-- One node asks a venue for an unknown market, and all nodes use the answer for ten minutes.
create table unknown_markets (
  venue text not null,
  market_id text not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  -- False while a node asks the venue.
  is_answered boolean not null,
  primary key (venue, market_id)
);

create index unknown_markets_asked_at on unknown_markets (asked_at);

-- Operators decide that two markets of different venues match, or never match. The decisions replace those of the model
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

-- Two nodes that belong to the same question: a market with its event, or two that are matched at different venues. Questions
-- are the connected components. A node is `market:venue/market_id` or `event:slug`. Rows are never changed or deleted: markets
-- that ask the same question are one observation of the track record, also after they have left the venues' listings.
create table question_links (
  node text collate "C" not null,
  linked_node text collate "C" not null,
  primary key (node, linked_node)
);

-- Trades that customers report, from which the consensus of a market is computed. Reports outlive the market, so they have its
-- public id, and the customer, whose id is then replaced by a random one.
create table trade_reports (
  report_id int8 generated always as identity primary key,
  -- The reporting customer. No foreign key: nodes lock the customer when they write a report.
  agent_id text not null,
  venue text not null,
  market_id text not null,
  side text not null check (side in ('yes', 'no')),
  -- Price of the bought side. Price and size are stored as they were sent, because equal reports count once.
  price float8 not null check (price >= 0 and price <= 1),
  size_usd float8 not null check (size_usd > 0 and size_usd <= 1000000),
  -- The caller's name for the trade; empty if it sent none.
  client_ref text not null,
  idempotency_key text,
  -- Whether the price was near the prices observed at the venue at that time. Other reports have no weight in the robust
  -- figure.
  is_plausible boolean not null,
  reported_at timestamptz not null
);

create unique index trade_reports_once on trade_reports
  (agent_id, venue, market_id, side, price, size_usd, client_ref);
create unique index trade_reports_by_idempotency_key on trade_reports (agent_id, idempotency_key)
  where idempotency_key is not null;
create index trade_reports_by_market on trade_reports (venue, market_id, reported_at);
-- The newest reports of a customer are its live book.
create index trade_reports_by_agent on trade_reports (agent_id, reported_at);
-- The hourly cleanup deletes old reports; without these indexes it would scan all reports.
create index trade_reports_by_time on trade_reports using brin (reported_at) with (pages_per_range = 32);
-- Customer ids start with `cus-`, so a deleted customer's id is recognised by its prefix.
create index trade_reports_of_deleted on trade_reports (reported_at) where agent_id like 'deleted-%';

-- Number of reports of a market, so that a report does not count all earlier ones.
create table trade_report_counts (
  venue text not null,
  market_id text not null,
  reports int8 not null,
  primary key (venue, market_id)
);
