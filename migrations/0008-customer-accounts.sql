-- Why: supports self-service sign-up, several named keys per customer and an audit log of all account changes.
alter table customers add column name text;

-- One account per e-mail address. A check before the insert would have a race condition, so the index enforces it.
create unique index customers_by_email on customers (email);

-- Names identify the active keys of a customer, and a rotated key keeps its name: one active key per name.
drop index api_keys_one_living;

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
