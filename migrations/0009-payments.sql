-- Why: a call may be paid for by itself (x402). This row decides, before anything is asked of anyone, which of many equal
-- payments is the one that runs; it outlives a node that dies between two steps, so that nothing is charged twice or given
-- away. docs/payments.md draws the states.
create table payments (
  payment_id int8 generated always as identity primary key,
  -- CAIP-2, and addresses and nonce in lower case: one authorization has one spelling.
  network text not null,
  asset text not null,
  payer text not null,
  nonce text not null,
  -- Atomic units of the asset, in decimal digits.
  amount text not null,
  valid_before timestamptz not null,
  -- SHA-256 of the authorization and its signature, and of the request that it pays for.
  authorization_hash bytea not null,
  request_hash bytea not null,
  -- What is needed to settle it again; kept only until it is known whether it is settled.
  authorization_json text,
  state text not null check (
    state in ('reserved', 'verified', 'settling', 'settled', 'delivered', 'rejected', 'released', 'unknown')
  ),
  -- Who works on it, and until when nobody else may.
  attempt text not null,
  lease_until timestamptz not null,
  -- Of an unknown settlement: how often it was asked for, and when next.
  tries int4 not null default 0,
  next_try_at timestamptz,
  reason text,
  transaction_hash text,
  -- The answer, for a client that lost it on the way.
  response_status int4,
  response_headers text,
  response_body bytea,
  response_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (network, asset, payer, nonce)
);

-- One transfer pays for one call, whatever a facilitator says.
create unique index payments_by_transaction on payments (network, transaction_hash) where transaction_hash is not null;
-- What the upkeep looks for.
create index payments_open on payments (lease_until) where state in ('reserved', 'verified', 'settling', 'unknown');
create index payments_answers on payments (response_until) where response_until is not null;
create index payments_by_age on payments (updated_at);
