-- Why: stores events in commit order, for streams and webhooks, and the webhooks of customers with their deliveries.
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

-- Ids that are never assigned: those between the last id before a start and the first id after it, both exclusive. A store that
-- was restored from a backup must not assign the ids of events that were sent after the backup.
create table event_log_epochs (
  first_id int8 primary key,
  previous_id int8 not null
);

-- First attempts follow the event log from the position of the webhook; only retries have rows that wait.
create table webhooks (
  webhook_id text primary key,
  customer_id text not null,
  url text not null,
  events text[] not null,
  enabled boolean not null,
  -- Sealed with the id of the webhook as owner.
  secret text not null,
  -- The secret before the last roll, which also signs until the given time.
  previous_secret text,
  previous_secret_until timestamptz,
  created_at timestamptz not null,
  -- Increases with every change by the customer. The node that delivers reads the row again when it sees a new value.
  revision int4 not null default 0,
  -- The node that delivers the events; see webhook_nodes.
  holder text,
  -- Id of the last event that was delivered once, or that the webhook does not select.
  position int8 not null,
  -- Failed attempts since the last success. Their first and last time, null without failures.
  failure_count int4 not null default 0,
  failing_since timestamptz,
  last_failure_at timestamptz,
  last_test_at timestamptz
) with (fillfactor = 50);

create index webhooks_by_customer on webhooks (customer_id, created_at);

-- The nodes that deliver webhooks. The webhooks of an expired node are taken over by the others.
create table webhook_nodes (
  node_id text primary key,
  expires_at timestamptz not null
);

create table webhook_deliveries (
  webhook_id text not null,
  event_id int8 not null,
  event_type text not null,
  status text not null check (status in ('delivered', 'retrying', 'failed', 'canceled')),
  attempts int4 not null,
  first_attempt_at timestamptz not null,
  last_attempt_at timestamptz not null,
  -- Of the last attempt. Null without a response.
  response_status int4,
  response_head text,
  latency_ms int4 not null,
  -- Set while the delivery waits for a retry. The body is stored so that every attempt sends the same bytes.
  next_attempt_at timestamptz,
  body text,
  -- Why the last attempt got no response.
  failure text,
  primary key (webhook_id, event_id),
  check ((status = 'retrying') = (next_attempt_at is not null) and (status = 'retrying') = (body is not null))
) with (fillfactor = 80);

create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at) where next_attempt_at is not null;
create index webhook_deliveries_by_age on webhook_deliveries using brin (first_attempt_at) with (pages_per_range = 32);
