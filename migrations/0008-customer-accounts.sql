-- Why: customers sign up by themselves, hold several named keys, and every change to an account can be traced.
alter table customers add column name text;

-- One account an address: the index decides, because a look before the insert would let two through.
create unique index customers_by_email on customers (email);

-- A name tells a customer's living keys apart, and a rotated key passes its name on: so no name has two living keys.
drop index api_keys_one_living;

create unique index api_keys_living_name on api_keys (customer_id, name) where revoked_at is null;

create index api_keys_by_customer on api_keys (customer_id);

-- Who has asked for an account and not yet opened the letter; the account begins with the verification.
create table pending_signups (
  email text primary key,
  name text,
  customer_id text not null unique,
  -- SHA-256 of the link's token; the token itself is in the letter only.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create index pending_signups_by_expiry on pending_signups (expires_at);

-- Sliding logs that hold over nodes and restarts: sign-ups of an address, letters to a mailbox. Instants are oldest first.
create table attempts (
  subject text primary key,
  taken_at timestamptz[] not null,
  last_at timestamptz not null
);

create index attempts_by_age on attempts (last_at);

-- Who changed what of which account. No foreign key: the log outlives what it tells of. Details hold no secret.
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
