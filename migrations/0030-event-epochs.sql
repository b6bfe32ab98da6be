-- Why: a store that was restored from a backup must not assign the ids of events that were sent after the backup.
-- Ids that are never assigned: those between the last id before a start and the first id after it, both exclusive.
create table event_log_epochs (
  first_id int8 primary key,
  previous_id int8 not null
);
