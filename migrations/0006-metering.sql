-- Why: a month's quota is exact to the call on any number of nodes. A node takes units in blocks before it uses them; what
-- is in no block any more and not taken is still free. Months are UTC and count from 0 because they are other rows.
create table quota_months (
  -- Whoever calls: also users of a marketplace, who have no row in customers.
  customer_id text not null,
  month date not null,
  tier text not null,
  -- Units spent, and those that nodes hold in blocks.
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
  -- As its node last said; the node itself knows better.
  spent int4 not null,
  expires_at timestamptz not null
);

create index quota_blocks_by_owner on quota_blocks (customer_id, month);
create index quota_blocks_by_expiry on quota_blocks (expires_at);
