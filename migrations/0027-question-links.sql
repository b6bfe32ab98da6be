-- Why: counts independent questions. Markets that ask the same question are one observation of the track record, also after
-- they have left the venues' listings, and every node must count the same.

-- Two nodes that belong to the same question: a market with its event, or two that are matched at different venues. Questions
-- are the connected components. A node is `market:venue/market_id` or `event:slug`. Rows are never changed or deleted.
create table question_links (
  node text collate "C" not null,
  linked_node text collate "C" not null,
  primary key (node, linked_node)
);

-- When the open trades of the shadow book were last valued at the prices of the current day.
alter table shadow_book add column marked_at timestamptz;
