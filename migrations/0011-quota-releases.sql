-- Why: makes the release of unspent quota units idempotent, because a statement is retried if its response is lost. Each
-- node numbers its releases, and a release with a number that was already applied is ignored.
create table quota_releases (
  node_id text primary key,
  last_release int8 not null,
  released_at timestamptz not null
);
