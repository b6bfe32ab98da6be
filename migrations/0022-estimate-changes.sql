-- Why: an estimate moves with the price, so each analysis stores what it adds to the price. Null for earlier analyses.
alter table analyses
  -- Sum of the changes of the log-odds, its standard error, and the price's move in a day.
  add column log_odds_change float8,
  add column change_error float8,
  add column daily_move float8,
  -- How far prices of other venues and of the event's other markets contradicted the price, in log-odds.
  add column peer_gap float8,
  add column sibling_gap float8;
