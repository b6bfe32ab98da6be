-- Why: computes the track record without the requested trades from the few requested ones, not from all trades.
create index shadow_trades_requested on shadow_trades (venue, market_id) where is_requested;
