-- Why: customers sign in to the account page with a link sent by e-mail. Links and sessions are valid on all nodes and after a restart.

-- One row per customer: a new link invalidates the previous one.
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
