-- Why: units that are given back are freed at once, and a statement whose answer was lost is asked again. Each node numbers
-- what it frees; a number that was heard is not heard twice.
create table quota_releases (
  node_id text primary key,
  last_release int8 not null,
  released_at timestamptz not null
);
