-- Why: stores customers, their plans and their API keys. Only the SHA-256 of a key is stored; a customer has one active key.
create table customers (
  customer_id text primary key,
  email text,
  plan text not null check (plan in ('free', 'pro', 'enterprise')),
  status text not null check (status in ('active', 'past_due', 'canceled')),
  created_at timestamptz not null
);

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

create unique index api_keys_one_living on api_keys (customer_id) where revoked_at is null;
