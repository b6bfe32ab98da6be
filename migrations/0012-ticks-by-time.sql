-- Why: the roll-up reads the last minutes of all markets; without this index it would scan the whole day.
create index ticks_by_time on ticks using brin (event_at) with (pages_per_range = 32);
