import assert from "node:assert/strict";
import { test } from "node:test";
import {
  MATCH_ALL_QUERY,
  SAMPLE_AT,
  type SampleParts,
  sampleMarket,
} from "../../test/support/markets/market-samples.ts";
import { MarketBoard } from "./board.ts";
import type { MarketQuery } from "./model.ts";

function createBoard(markets: Readonly<Record<string, SampleParts>>): MarketBoard {
  const board = new MarketBoard(() => SAMPLE_AT);
  for (const [id, parts] of Object.entries(markets)) board.apply(sampleMarket(id, parts), SAMPLE_AT);
  return board;
}

const listIds = (board: MarketBoard, query: Partial<MarketQuery> = {}) =>
  board.list({ ...MATCH_ALL_QUERY, ...query }).map(({ listing }) => listing.marketId);

test("the board lists all markets if there are more than its initial capacity", () => {
  const count = 3_000;
  const board = new MarketBoard(() => SAMPLE_AT);
  for (let number = 0; number < count; number++) {
    board.apply(sampleMarket(`m${number}`, { activity: { volume24hUsd: number } }), SAMPLE_AT);
  }
  assert.deepEqual(listIds(board, { limit: 2 }), ["m2999", "m2998"]);
  const ids = listIds(board, { limit: count });
  assert.equal(ids.length, count);
  assert.equal(ids.at(-1), "m0");
});

test("`findByQuestion` returns the most similar markets that pass its filter, equally similar ones by volume", () => {
  const parts = (title: string, volume24hUsd: number | null, listing: SampleParts["listing"] = {}): SampleParts => ({
    listing: { title, ...listing },
    activity: { volume24hUsd },
  });
  const title = "Will Ann win the primary?";
  const board = createBoard({
    unrelated: parts("Will it rain?", 9e6),
    loose: parts("Will Ann or Bob or Cid win the primary in May?", 9e6),
    small: parts(title, 1),
    unknown: parts(title, null),
    large: parts(title, 2),
    closed: parts(title, 9e6, { status: "closed" }),
    elsewhere: parts(title, 9e6, { venue: "beta" }),
    unpriced: { ...parts(title, 9e6), quote: { bid: null, ask: null, lastPrice: null, indicativePrice: null } },
  });
  const find = (limit: number) =>
    board
      .findByQuestion("Ann win primary", { venues: ["alpha"], status: "active", limit })
      .map(({ market }) => market.listing.marketId);
  const order = ["large", "small", "unknown", "loose"];
  for (const limit of [1, 2, 3, 4, 9]) assert.deepEqual(find(limit), order.slice(0, limit));
});
