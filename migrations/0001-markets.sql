-- Why: stores the latest state of markets and events, so that after a restart the board is complete before the first sweep.
create table meta (
  key text primary key,
  value text not null
);

create table markets (
  key int4 generated always as identity primary key,
  venue text not null,
  market_id text not null,
  event_id text,
  title text not null,
  status text not null,
  close_at timestamptz,
  volume_24h_usd float8,
  updated_at timestamptz not null,
  snapshot text not null,
  unique (venue, market_id)
);

create table events (
  venue text not null,
  event_id text not null,
  listing text not null,
  primary key (venue, event_id)
);

create table status_changes (
  market_key int4 not null,
  changed_at timestamptz not null,
  from_status text,
  to_status text not null,
  outcome jsonb,
  primary key (market_key, changed_at, to_status)
);
