-- Why: stores customers and everything about their accounts: keys, sign-in, quotas, activity and payments.
create table customers (
  customer_id text primary key,
  email text,
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  status text not null check (status in ('active', 'past_due', 'canceled')),
  created_at timestamptz not null,
  -- Custom quotas and rate limits of enterprise customers; null means those of the plan.
  quotas jsonb,
  rate_limits jsonb,
  name text
);

-- One account per e-mail address. A check before the insert would have a race condition, so the index enforces it.
create unique index customers_by_email on customers (email);

-- Only the SHA-256 of a key is stored.
create table api_keys (
  key_hash bytea primary key,
  key_id text not null unique,
  customer_id text not null references customers (customer_id),
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  prefix text not null,
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create unique index api_keys_living_name on api_keys (customer_id, name) where revoked_at is null;
create index api_keys_by_customer on api_keys (customer_id);

-- Sign-ups whose e-mail address is not verified yet. The account is created on verification.
create table pending_signups (
  email text primary key,
  name text,
  customer_id text not null unique,
  -- SHA-256 of the token in the link; the token itself is only in the e-mail.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create index pending_signups_by_expiry on pending_signups (expires_at);

-- Links to sign in, sent by e-mail. Links and sessions are valid on all nodes and after a restart. One row per customer: a new
-- link invalidates the previous one.
create table sign_in_links (
  customer_id text primary key references customers (customer_id),
  -- SHA-256 of the token in the link; the token itself is only in the e-mail.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create table sessions (
  -- Identifies the session in the audit log; not a credential.
  session_id text primary key,
  -- SHA-256 of the token in the cookie.
  token_hash bytea not null unique,
  customer_id text not null references customers (customer_id),
  started_at timestamptz not null,
  -- Time of the last authentication: by the sign-in link, or later by an API key.
  proven_at timestamptz not null,
  -- Rounded to the minute.
  last_seen_at timestamptz not null
);

create index sessions_by_customer on sessions (customer_id, started_at);
create index sessions_by_age on sessions (last_seen_at);

-- One pending change of the e-mail address per customer, until the link sent to the new address is confirmed.
create table email_changes (
  customer_id text primary key references customers (customer_id),
  email text not null,
  -- SHA-256 of the token in the link; the token itself is only in the e-mail.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create index email_changes_by_expiry on email_changes (expires_at);

-- Rate limits shared by all nodes: sign-ups per IP address and e-mails per recipient. Timestamps are sorted, oldest first.
create table attempts (
  subject text primary key,
  taken_at timestamptz[] not null,
  last_at timestamptz not null
);

create index attempts_by_age on attempts (last_at);

-- Audit log of account changes. No foreign key, because entries outlive the account. Details contain no secrets.
create table audit_log (
  audit_id int8 generated always as identity primary key,
  occurred_at timestamptz not null,
  actor_kind text not null,
  actor_id text not null,
  action text not null,
  customer_id text not null,
  details jsonb not null
);

create index audit_log_by_customer on audit_log (customer_id, audit_id);
create index audit_log_by_age on audit_log (occurred_at);

-- Monthly quotas, exact across all nodes. A node reserves units in blocks before it spends them; unspent units of expired
-- blocks become available again. Each UTC month has its own row, so usage starts at 0.
create table quota_months (
  -- Also contains marketplace users, who have no row in customers.
  customer_id text not null,
  month date not null,
  tier text not null,
  -- Units spent or reserved in blocks.
  taken int8 not null,
  last_grant int4 not null,
  primary key (customer_id, month, tier)
);

create table quota_blocks (
  block_id int8 generated always as identity primary key,
  customer_id text not null,
  month date not null,
  tier text not null,
  node_id text not null,
  size int4 not null,
  -- As last reported by the node; the actual number may be higher.
  spent int4 not null,
  expires_at timestamptz not null
);

create index quota_blocks_by_owner on quota_blocks (customer_id, month);
create index quota_blocks_by_expiry on quota_blocks (expires_at);

-- Makes the release of unspent quota units idempotent, because a statement is retried if its response is lost. Each node
-- numbers its releases, and a release with a number that was already applied is ignored.
create table quota_releases (
  node_id text primary key,
  last_release int8 not null,
  released_at timestamptz not null
);

-- Usage by day and key. No foreign keys to customers here and in the next tables: nodes lock the customer when they write, and
-- skip customers that were deleted.
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

-- Payments per request (x402). The row is inserted before any external call, so of several identical payments only one is
-- processed. It survives a node crash, so no payment is charged twice or lost. docs/payments.md has the states.
create table payments (
  payment_id int8 generated always as identity primary key,
  -- CAIP-2 network; addresses and nonce in lower case, so each authorization has one representation.
  network text not null,
  asset text not null,
  payer text not null,
  nonce text not null,
  -- Atomic units of the asset, as a decimal number.
  amount text not null,
  valid_before timestamptz not null,
  -- SHA-256 of the authorization with its signature, and of the request it pays for.
  authorization_hash bytea not null,
  request_hash bytea not null,
  -- Needed to retry the settlement; deleted once its result is known.
  authorization_json text,
  state text not null check (
    state in ('reserved', 'verified', 'settling', 'settled', 'delivered', 'rejected', 'released', 'unknown')
  ),
  -- Identifies the processing attempt; no other attempt may start before lease_until.
  attempt text not null,
  lease_until timestamptz not null,
  -- For a settlement with an unknown result: number of status checks, and time of the next one.
  tries int4 not null default 0,
  next_try_at timestamptz,
  reason text,
  transaction_hash text,
  -- The response, stored for clients that did not receive it.
  response_status int4,
  response_headers text,
  response_body bytea,
  response_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  -- How often a payment whose response is too large to be stored has repeated its call.
  repetitions int4 not null default 0,
  unique (network, asset, payer, nonce)
);

-- One transfer pays for one request, even if a facilitator reports the same transfer twice.
create unique index payments_by_transaction on payments (network, transaction_hash) where transaction_hash is not null;
-- Used by the reconciler.
create index payments_open on payments (lease_until) where state in ('reserved', 'verified', 'settling', 'unknown');
create index payments_answers on payments (response_until) where response_until is not null;
create index payments_by_age on payments (updated_at);
