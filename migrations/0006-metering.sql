-- Why: enforces monthly quotas exactly across all nodes. A node reserves units in blocks before it spends them; unspent
-- units of expired blocks become available again. Each UTC month has its own row, so usage starts at 0.
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
