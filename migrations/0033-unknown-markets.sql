-- Why: one node asks a venue for an unknown market, and all nodes use the answer for ten minutes.
create table unknown_markets (
  venue text not null,
  market_id text not null,
  asked_at timestamptz not null,
  expires_at timestamptz not null,
  -- False while a node asks the venue.
  is_answered boolean not null,
  primary key (venue, market_id)
);
create index unknown_markets_asked_at on unknown_markets (asked_at);
