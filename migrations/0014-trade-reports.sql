-- Why: stores the trades that customers report, from which the consensus of a market is computed. Reports outlive the
-- market, so they have its public id, and the customer, whose id is then replaced by a random one.
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

-- Number of reports of a market, so that a report does not count all earlier ones.
create table trade_report_counts (
  venue text not null,
  market_id text not null,
  reports int8 not null,
  primary key (venue, market_id)
);
