import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_AT, type SampleParts, sampleEvent, sampleMarket } from "../../../test/support/market-samples.ts";
import type { BoardEvent, BoardMarket } from "../../board/index.ts";
import { MarketBoard } from "../../board/index.ts";
import { presentHistory } from "./history.ts";
import { arrayBytes, marketBytes, presentMarket } from "./present.ts";

const AT = new Date(SAMPLE_AT).toISOString();
const HOUR_AGO = new Date(SAMPLE_AT - 3_600_000).toISOString();

function boardMarket(parts: SampleParts = {}): { board: MarketBoard; market: BoardMarket } {
  const board = new MarketBoard(() => SAMPLE_AT);
  return { board, market: board.apply(sampleMarket("m", parts), SAMPLE_AT).market };
}

test("what is unknown is absent, not null, 0 or empty", () => {
  const { market } = boardMarket({ quote: { bid: null, ask: null, lastPrice: null, indicativePrice: 0.3 } });
  assert.deepEqual(presentMarket(market, null), {
    ...{ platform: "alpha", market_id: "m", title: "Question m", yes_price: 0.3, updated_at: AT, status: "active" },
  });
});

test("all that is known is shown under the specification's names", () => {
  const { board, market } = boardMarket({
    listing: { eventId: "E1", url: "https://alpha.example/m", category: "Economics", expectedResolutionAt: SAMPLE_AT },
    activity: { volume24hUsd: 0, volumeTotalUsd: 9, liquidityUsd: 2.5, openInterestUsd: 3 },
  });
  const event: BoardEvent = { slug: "alpha:e1", listing: sampleEvent("E1", { title: "Event", category: "Other" }) };
  assert.deepEqual(presentMarket(board.annotate(market, { priceDayAgo: 0.51 }), event), {
    ...{ platform: "alpha", market_id: "m", title: "Question m", yes_price: 0.41, updated_at: AT, status: "active" },
    ...{ url: "https://alpha.example/m", category: "Economics", bid: 0.4, ask: 0.42, last_price: 0.41 },
    ...{ price_change_24h: -0.1, volume_24h: 0, liquidity: 2.5, open_interest: 3, resolution_date: AT },
    ...{ event_slug: "alpha:e1", event_title: "Event" },
  });
});

test("a price that did not move shows a change of 0, an unknown one none", () => {
  const { board, market } = boardMarket();
  assert.equal("price_change_24h" in presentMarket(market, null), false);
  assert.equal(presentMarket(board.annotate(market, { priceDayAgo: 0.41 }), null).price_change_24h, 0);
});

test("a market without a category of its own has its event's, and one not yet trading has no status word", () => {
  const { market } = boardMarket({ listing: { eventId: "E", status: "pending" } });
  const shown = presentMarket(market, { slug: "alpha:e", listing: sampleEvent("E", { category: "Sports" }) });
  assert.equal(shown.category, "Sports");
  assert.equal("status" in shown, false);
});

test("a market's JSON is made once and again only after a change of the market or its event", () => {
  const { board, market } = boardMarket({ listing: { eventId: "E" } });
  board.applyEvent(sampleEvent("E"));
  const event = () => board.findEvent("alpha:e");
  const present = () => board.find("alpha", "m") ?? market;
  const bytes = marketBytes(present(), event());
  assert.deepEqual(JSON.parse(bytes.toString()), presentMarket(market, event()));
  assert.equal(marketBytes(present(), event()), bytes);

  board.applyEvent(sampleEvent("E"));
  assert.equal(marketBytes(present(), event()), bytes);
  board.applyEvent(sampleEvent("E", { title: "Renamed" }));
  const renamed = marketBytes(present(), event());
  assert.notEqual(renamed, bytes);
  assert.equal(JSON.parse(renamed.toString()).event_title, "Renamed");

  board.applyQuote("alpha", "m", { bid: 0.41 }, SAMPLE_AT);
  assert.equal(JSON.parse(marketBytes(present(), event()).toString()).bid, 0.41);
  assert.equal(marketBytes(present(), event()), marketBytes(present(), event()));
});

test("the JSON of markets that nobody asks for any more is forgotten, that of one asked for again is kept", () => {
  const board = new MarketBoard(() => SAMPLE_AT);
  const markets = Array.from(
    { length: 25_001 },
    (_, number) => board.apply(sampleMarket(`m${number}`), SAMPLE_AT).market,
  );
  const [kept, forgotten, ...others] = markets;
  if (kept === undefined || forgotten === undefined) throw new Error("there are markets");
  const [keptBytes, forgottenBytes] = [marketBytes(kept, null), marketBytes(forgotten, null)];
  for (let round = 0; round < 3; round++) {
    for (const market of others) marketBytes(market, null);
    assert.equal(marketBytes(kept, null), keptBytes);
  }
  assert.notEqual(marketBytes(forgotten, null), forgottenBytes);
  assert.deepEqual(marketBytes(forgotten, null), forgottenBytes);
});

test("an array of ready-made items is JSON for none, one and several", () => {
  for (const values of [[], [1], [1, "zwei", { three: 3 }]]) {
    const bytes = arrayBytes(values.map((value) => Buffer.from(JSON.stringify(value))));
    assert.deepEqual(JSON.parse(bytes.toString()), values);
  }
});

test("a history shows each point at its beginning and leaves out what has no price", () => {
  const { market } = boardMarket();
  const point = {
    startAt: SAMPLE_AT - 3_600_000,
    endAt: SAMPLE_AT,
    yesPrice: 0.4,
    bid: null,
    ask: 0.5,
    volumeUsd: null,
  };
  const points = [{ ...point, yesPrice: null }, point];
  const reading = { period: "48h" as const, intervalSeconds: 3_600, points, generatedAt: SAMPLE_AT };
  assert.deepEqual(presentHistory(market, reading), {
    ...{ platform: "alpha", market_id: "m", period: "48h", interval_seconds: 3_600, generated_at: AT },
    points: [{ timestamp: HOUR_AGO, yes_price: 0.4, bid: null, ask: 0.5, volume: null }],
  });
});
