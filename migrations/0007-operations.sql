-- Why: stores facts about the store itself, and the leases through which several nodes share the venues and the jobs.
create table meta (
  key text primary key,
  value text not null
);

create table leases (
  name text primary key,
  holder text not null,
  fence int8 not null,
  expires_at timestamptz not null,
  report text,
  reported_at timestamptz,
  -- Makes the fence part of a key: writers lock it FOR KEY SHARE, which blocks a takeover but not a renewal.
  unique (name, fence)
);

create table lease_candidates (
  candidate text primary key,
  names text[] not null,
  expires_at timestamptz not null
);
