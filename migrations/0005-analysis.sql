-- Why: stores analysis runs and their results. The jobs that run them are in the schema of the job queue.
create table analysis_runs (
  analysis_id text primary key,
  venue text not null,
  market_id text not null,
  status text not null check (status in ('running', 'complete', 'error')),
  error_message text,
  -- What was requested. The result is light, too, if research was not possible.
  analysis_type text not null check (analysis_type in ('light', 'full')),
  -- Customer who started the run; null for a run of the service itself. Runs of one customer take turns with those of others.
  customer_id text,
  turn int4 not null,
  requested_at timestamptz not null,
  -- First start.
  started_at timestamptz,
  finished_at timestamptz,
  attempts int4 not null default 0,
  -- Increases with every start. A worker with an older number can no longer change the run.
  fence int8 not null default 0,
  -- What research has found so far, so that the next worker continues it.
  research_state text,
  -- The running run of the same market after whose end this one is queued.
  follows text
) with (fillfactor = 70);

-- One run per market at a time, and at most one that follows it.
create unique index analysis_runs_one_per_market on analysis_runs (venue, market_id)
  where status = 'running' and follows is null;
create unique index analysis_runs_one_follower on analysis_runs (venue, market_id)
  where status = 'running' and follows is not null;
create index analysis_runs_followers on analysis_runs (follows) where follows is not null;
create index analysis_runs_running on analysis_runs (requested_at) where status = 'running';
create index analysis_runs_finished on analysis_runs (finished_at) where status <> 'running';

-- One row per completed run, kept for the track record.
create table analyses (
  analysis_id text primary key,
  venue text not null,
  market_id text not null,
  analysis_type text not null check (analysis_type in ('light', 'full')),
  analysed_at timestamptz not null,
  probability float8 not null,
  market_price float8 not null,
  -- Bounds of the 80% interval of the probability.
  interval_low float8 not null,
  interval_high float8 not null,
  confidence float8 not null,
  recommendation text not null,
  cost_usd float8 not null,
  coefficients_version int4 not null,
  -- Normalised category of the market, for calibration by category.
  category text,
  -- What the analysis adds to the price: the sum of the changes of the log-odds, its standard error, and the price's move in a
  -- day. An estimate moves with the price.
  log_odds_change float8 not null,
  change_error float8 not null,
  daily_move float8 not null,
  -- How far prices of other venues and of the event's other markets contradicted the price, in log-odds.
  peer_gap float8 not null,
  sibling_gap float8 not null
);

create index analyses_by_time on analyses (analysed_at);
create index analyses_by_market on analyses (venue, market_id, analysed_at);

-- The complete results, as JSON. Deleted when a newer one exists and nobody requested this one, and after some weeks.
create table analysis_results (
  analysis_id text primary key,
  result text not null,
  -- Record of the research for audits, never sent to clients; null without research.
  transcript text
);

create table latest_analyses (
  venue text not null,
  market_id text not null,
  analysis_id text not null,
  probability float8 not null,
  analysed_at timestamptz not null,
  primary key (venue, market_id)
) with (fillfactor = 70);

-- Callers who started or joined a run.
create table analysis_participants (
  customer_id text not null,
  analysis_id text not null,
  joined_at timestamptz not null,
  primary key (customer_id, analysis_id)
);

create index analysis_participants_by_analysis on analysis_participants (analysis_id);
create index analysis_participants_by_time on analysis_participants (joined_at);

-- When the service last queued analyses of its own, so that only one node does it.
create table scheduled_analyses_batch (
  is_only boolean primary key default true check (is_only),
  queued_at timestamptz not null
);
