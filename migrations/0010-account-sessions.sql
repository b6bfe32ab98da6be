-- Why: customers sign in to their account's page by a link from a letter; links and sessions hold on every node and outlive a restart.

-- One row a customer: a newer link ends the one before.
create table sign_in_links (
  customer_id text primary key references customers (customer_id),
  -- SHA-256 of the link's token; the token itself is in the letter only.
  token_hash bytea not null unique,
  expires_at timestamptz not null
);

create table sessions (
  -- Names the session in the audit log; opens nothing.
  session_id text primary key,
  -- SHA-256 of the cookie's token.
  token_hash bytea not null unique,
  customer_id text not null references customers (customer_id),
  started_at timestamptz not null,
  -- When the customer last proved who he is: by the link that began the session, or by a key since.
  proven_at timestamptz not null,
  -- To the minute.
  last_seen_at timestamptz not null
);

create index sessions_by_customer on sessions (customer_id, started_at);

create index sessions_by_age on sessions (last_seen_at);
