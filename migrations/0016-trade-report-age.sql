-- Why: the hourly cleanup deletes old trade reports; without these indexes it would scan all reports.
create index trade_reports_by_time on trade_reports using brin (reported_at) with (pages_per_range = 32);
-- Customer ids start with `cus-`, so a deleted customer's id is recognised by its prefix.
create index trade_reports_of_deleted on trade_reports (reported_at) where agent_id like 'deleted-%';
