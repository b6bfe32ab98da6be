-- Why: stores events in commit order, for streams and webhooks.
create table event_log_head (
  is_only boolean primary key default true check (is_only),
  last_id int8 not null,
  dropped_through int8 not null
) with (fillfactor = 10);

create table event_log (
  id int8 primary key,
  event_key text not null unique,
  type text not null,
  venue text,
  market_id text,
  occurred_at timestamptz not null,
  appended_at timestamptz not null default clock_timestamp(),
  payload text not null
);

alter table markets add column announced_outcome text;
