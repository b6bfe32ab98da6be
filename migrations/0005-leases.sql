-- Why: several nodes share the venues through leases. Nodes without the lease of a venue read its changes from the database.
create table leases (
  name text primary key,
  holder text not null,
  fence int8 not null,
  expires_at timestamptz not null,
  report text,
  reported_at timestamptz,
  -- Makes the fence part of a key: writers lock it FOR KEY SHARE, which blocks a takeover but not a renewal.
  unique (name, fence)
);

create table lease_candidates (
  candidate text primary key,
  names text[] not null,
  expires_at timestamptz not null
);

create sequence market_changes;

alter table markets add column position int8 not null default 0;

alter table events add column position int8 not null default 0;

create index markets_by_position on markets (venue, position);

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
