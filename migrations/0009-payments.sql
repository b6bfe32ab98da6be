-- Why: supports payment per request (x402). The row is inserted before any external call, so of several identical payments
-- only one is processed. It survives a node crash, so no payment is charged twice or lost. docs/payments.md has the states.
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
  unique (network, asset, payer, nonce)
);

-- One transfer pays for one request, even if a facilitator reports the same transfer twice.
create unique index payments_by_transaction on payments (network, transaction_hash) where transaction_hash is not null;
-- Used by the reconciler.
create index payments_open on payments (lease_until) where state in ('reserved', 'verified', 'settling', 'unknown');
create index payments_answers on payments (response_until) where response_until is not null;
create index payments_by_age on payments (updated_at);
