-- Why: the roll-up reads the last minutes of all markets at once; without this it reads the whole day for them.
create index ticks_by_time on ticks using brin (event_at) with (pages_per_range = 32);
