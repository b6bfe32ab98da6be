-- Why: the account pages show usage by day and key and the last requests, and customers change their e-mail address.
-- No foreign keys to customers: nodes lock the customer when they write, and skip customers that were deleted.
create table usage_days (
  customer_id text not null,
  -- UTC. A call counted in a quota is on a day of the quota's month.
  day date not null,
  key_id text not null,
  -- All requests with this key.
  requests int8 not null,
  -- Those with a status of 400 or above.
  failed int8 not null,
  -- Those that count towards a monthly quota, by tier.
  listing int8 not null,
  insight int8 not null,
  strategy int8 not null,
  deep int8 not null,
  primary key (customer_id, day, key_id)
);

create index usage_days_by_day on usage_days (day);

-- The last requests of each customer. Contains route patterns only: no paths, queries, bodies or network addresses.
create table recent_requests (
  request_number int8 generated always as identity primary key,
  customer_id text not null,
  occurred_at timestamptz not null,
  request_id text not null,
  method text not null,
  route text not null,
  status int4 not null,
  -- The error code of the response; null if it is successful.
  code text,
  duration_ms float8 not null,
  key_id text not null
);

create index recent_requests_by_customer on recent_requests (customer_id, occurred_at);

create index recent_requests_by_age on recent_requests (occurred_at);

-- Makes writes of the two tables above idempotent, because a batch is sent again if its response is lost. Each node
-- numbers its batches, and a batch whose number was already applied is ignored.
create table activity_batches (
  node_id text primary key,
  last_batch int8 not null,
  written_at timestamptz not null
);

create index activity_batches_by_age on activity_batches (written_at);

-- One pending change of the e-mail address per customer, until the link sent to the new address is confirmed.
create table email_changes (
  customer_id text primary key references customers (customer_id),
  email text not null,
  -- SHA-256 of the token in the link; the token itself is only in the e-mail.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create index email_changes_by_expiry on email_changes (expires_at);
