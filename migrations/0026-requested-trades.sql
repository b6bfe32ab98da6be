-- Why: shows the track record without the trades that exist because a caller asked for a signal or an analysis.
alter table shadow_trades add column is_requested boolean not null default false;
