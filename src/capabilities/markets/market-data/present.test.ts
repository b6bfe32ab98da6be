import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SAMPLE_AT,
  type SampleParts,
  sampleEvent,
  sampleMarket,
} from "../../../../test/support/markets/market-samples.ts";
import { type BoardEvent, type BoardMarket, MarketBoard } from "../../../board/index.ts";
import { compress, isWorthCompressing } from "../../../http/response/compression.ts";
import { joinJsonArray } from "../../../http/response/join-json.ts";
import { encodeMarket, type MarketLookups, presentMarket } from "./present.ts";

const NO_LOOKUPS: MarketLookups = { venueIdsOf: () => ({}), alsoOnOf: () => null, estimateOf: () => null };
const SAMPLE_TIME = new Date(SAMPLE_AT).toISOString();

function createBoardMarket(parts: SampleParts = {}): { board: MarketBoard; market: BoardMarket } {
  const board = new MarketBoard(() => SAMPLE_AT);
  return { board, market: board.apply(sampleMarket("m", parts), SAMPLE_AT).market };
}

test("the Market object omits unknown fields", () => {
  const { market } = createBoardMarket({ quote: { bid: null, ask: null, lastPrice: null, indicativePrice: 0.3 } });
  assert.deepEqual(presentMarket(market, null, NO_LOOKUPS), {
    platform: "alpha",
    market_id: "m",
    title: "Question m",
    yes_price: 0.3,
    updated_at: SAMPLE_TIME,
    status: "active",
    tick_size: 0.01,
    price_ranges: [{ from: 0, to: 1, step: 0.01 }],
    paused: false,
  });
});

test("the Market object contains all known fields under their API names", () => {
  const { board, market } = createBoardMarket({
    listing: { eventId: "E1", url: "https://alpha.example/m", category: "Economics", expectedResolutionAt: SAMPLE_AT },
    activity: { volume24hUsd: 0, volumeTotalUsd: 9, liquidityUsd: 2.5, openInterestUsd: 3 },
  });
  const event: BoardEvent = { slug: "alpha:e1", listing: sampleEvent("E1", { title: "Event", category: "Other" }) };
  assert.deepEqual(presentMarket(board.annotate(market, { priceDayAgo: 0.51 }), event, NO_LOOKUPS), {
    platform: "alpha",
    market_id: "m",
    title: "Question m",
    yes_price: 0.41,
    updated_at: SAMPLE_TIME,
    status: "active",
    url: "https://alpha.example/m",
    category: "Economics",
    venue_category: "Economics",
    tick_size: 0.01,
    price_ranges: [{ from: 0, to: 1, step: 0.01 }],
    paused: false,
    bid: 0.4,
    ask: 0.42,
    last_price: 0.41,
    price_change_24h: -0.1,
    volume_24h: 0,
    liquidity: 2.5,
    open_interest: 3,
    resolution_date: SAMPLE_TIME,
    event_slug: "alpha:e1",
    event_title: "Event",
  });
});

test("the tick size is the step at the current price, and a market shows the order rules of its venue", () => {
  const priceRanges = [
    { from: 0, to: 0.1, step: 0.001 },
    { from: 0.1, to: 1, step: 0.01 },
  ];
  const rules = { minOrderContracts: 5, contractStep: 0.01, takerDelayMs: 500, protocolVersion: "v2" };
  const presentAt = (bid: number, ask: number) => {
    const { market } = createBoardMarket({ listing: { priceRanges, ...rules }, quote: { bid, ask } });
    return presentMarket(market, null, NO_LOOKUPS);
  };
  assert.equal(presentAt(0.06, 0.07).tick_size, 0.001);
  const { tick_size, price_ranges, min_order_contracts, contract_step, taker_delay_ms, protocol_version } = presentAt(
    0.2,
    0.22,
  );
  assert.deepEqual([tick_size, price_ranges], [0.01, priceRanges]);
  assert.deepEqual([min_order_contracts, contract_step, taker_delay_ms, protocol_version], [5, 0.01, 500, "v2"]);
});

test("a finalized market shows its outcome, payout and settlement time, and null for each that is unknown", () => {
  const settlementOf = (listing: SampleParts["listing"]) => {
    const { market } = createBoardMarket({ listing: { status: "finalized", ...listing } });
    const { outcome, settlement_value, resolved_at } = presentMarket(market, null, NO_LOOKUPS);
    return [outcome, settlement_value, resolved_at];
  };
  assert.deepEqual(settlementOf({ outcome: { kind: "yes" }, resolvedAt: SAMPLE_AT }), ["yes", 1, SAMPLE_TIME]);
  assert.deepEqual(settlementOf({ outcome: { kind: "no" }, resolvedAt: SAMPLE_AT }), ["no", 0, SAMPLE_TIME]);
  assert.deepEqual(settlementOf({ outcome: { kind: "partial", value: 0.25 } }), ["partial", 0.25, null]);
  assert.deepEqual(settlementOf({ outcome: { kind: "void", value: 0.5 } }), ["void", 0.5, null]);
  assert.deepEqual(settlementOf({ outcome: { kind: "void", value: null } }), ["void", null, null]);
  assert.deepEqual(settlementOf({ outcome: null, resolvedAt: SAMPLE_AT }), [null, null, SAMPLE_TIME]);
});

test("a market shows no outcome before it is finalized, because a proposed result can change", () => {
  for (const status of ["active", "closed", "determined"] as const) {
    const { market } = createBoardMarket({ listing: { status, outcome: { kind: "yes" }, resolvedAt: SAMPLE_AT } });
    for (const field of ["outcome", "settlement_value", "resolved_at"])
      assert.equal(field in presentMarket(market, null, NO_LOOKUPS), false, `${field} of a ${status} market`);
  }
});

test("`price_change_24h` is 0 if the price is unchanged and omitted if it is unknown", () => {
  const { board, market } = createBoardMarket();
  assert.equal("price_change_24h" in presentMarket(market, null, NO_LOOKUPS), false);
  assert.equal(presentMarket(board.annotate(market, { priceDayAgo: 0.41 }), null, NO_LOOKUPS).price_change_24h, 0);
});

test("uses the category of the event if the market has none, and omits the status `pending`", () => {
  const { market } = createBoardMarket({ listing: { eventId: "E", status: "pending" } });
  const marketObject = presentMarket(
    market,
    { slug: "alpha:e", listing: sampleEvent("E", { category: "Sports" }) },
    NO_LOOKUPS,
  );
  assert.equal(marketObject.category, "Sports");
  assert.equal("status" in marketObject, false);
});

test("caches the JSON of a market until the market or its event changes", () => {
  const { board, market } = createBoardMarket({ listing: { eventId: "E" } });
  board.applyEvent(sampleEvent("E"));
  const event = () => board.findEvent("alpha:e");
  const currentMarket = () => board.find("alpha", "m") ?? market;
  const bytes = encodeMarket(currentMarket(), event(), NO_LOOKUPS);
  assert.deepEqual(JSON.parse(bytes.toString()), presentMarket(market, event(), NO_LOOKUPS));
  assert.equal(encodeMarket(currentMarket(), event(), NO_LOOKUPS), bytes);

  board.applyEvent(sampleEvent("E"));
  assert.equal(encodeMarket(currentMarket(), event(), NO_LOOKUPS), bytes);
  board.applyEvent(sampleEvent("E", { title: "Renamed" }));
  const renamedBytes = encodeMarket(currentMarket(), event(), NO_LOOKUPS);
  assert.notEqual(renamedBytes, bytes);
  assert.equal(JSON.parse(renamedBytes.toString()).event_title, "Renamed");

  board.applyQuote("alpha", "m", { bid: 0.41 }, SAMPLE_AT);
  assert.equal(JSON.parse(encodeMarket(currentMarket(), event(), NO_LOOKUPS).toString()).bid, 0.41);
  assert.equal(encodeMarket(currentMarket(), event(), NO_LOOKUPS), encodeMarket(currentMarket(), event(), NO_LOOKUPS));
});

test("shows the links to other venues, and caches the JSON until they change", () => {
  const { market } = createBoardMarket();
  let alsoOn: Record<string, string> | null = { beta: "https://beta.example/1" };
  const lookups: MarketLookups = { ...NO_LOOKUPS, alsoOnOf: () => alsoOn };
  const linkedBytes = encodeMarket(market, null, lookups);
  assert.deepEqual(JSON.parse(linkedBytes.toString()).also_on, { beta: "https://beta.example/1" });
  assert.equal(encodeMarket(market, null, lookups), linkedBytes);
  const list = joinJsonArray([linkedBytes]);
  alsoOn = null;
  const unlinkedBytes = encodeMarket(market, null, lookups);
  assert.equal("also_on" in JSON.parse(unlinkedBytes.toString()), false);
  assert.equal(JSON.parse(joinJsonArray([unlinkedBytes]).toString())[0].also_on, undefined);
  assert.notEqual(joinJsonArray([unlinkedBytes]), list, "the list is joined again");
});

test("shows our estimate, and caches the JSON until it changes", () => {
  const { market } = createBoardMarket();
  let estimate: ReturnType<MarketLookups["estimateOf"]> = { probability: 0.37, at: SAMPLE_AT };
  const lookups: MarketLookups = { ...NO_LOOKUPS, estimateOf: () => estimate };
  const bytes = encodeMarket(market, null, lookups);
  const read = () => {
    const { model_probability: probability, model_probability_at: at } = JSON.parse(
      encodeMarket(market, null, lookups).toString(),
    );
    return [probability, at];
  };
  assert.deepEqual(read(), [0.37, new Date(SAMPLE_AT).toISOString()]);
  estimate = { probability: 0.37, at: SAMPLE_AT };
  assert.equal(encodeMarket(market, null, lookups), bytes);
  estimate = { probability: 0.38, at: SAMPLE_AT };
  assert.deepEqual(read(), [0.38, new Date(SAMPLE_AT).toISOString()]);
  estimate = { probability: 0.38, at: SAMPLE_AT + 1 };
  assert.deepEqual(read(), [0.38, new Date(SAMPLE_AT + 1).toISOString()]);
  estimate = null;
  assert.deepEqual(read(), [undefined, undefined]);
});

test("the cache evicts the JSON of unused markets and retains that of requested markets", () => {
  const board = new MarketBoard(() => SAMPLE_AT);
  const markets = Array.from(
    { length: 25_001 },
    (_, number) => board.apply(sampleMarket(`m${number}`), SAMPLE_AT).market,
  );
  const [usedMarket, unusedMarket, ...otherMarkets] = markets;
  if (usedMarket === undefined || unusedMarket === undefined) throw new Error("The board has too few markets");
  const [usedBytes, unusedBytes] = [
    encodeMarket(usedMarket, null, NO_LOOKUPS),
    encodeMarket(unusedMarket, null, NO_LOOKUPS),
  ];
  for (let round = 0; round < 3; round++) {
    for (const market of otherMarkets) encodeMarket(market, null, NO_LOOKUPS);
    assert.equal(encodeMarket(usedMarket, null, NO_LOOKUPS), usedBytes);
  }
  assert.notEqual(encodeMarket(unusedMarket, null, NO_LOOKUPS), unusedBytes);
  assert.deepEqual(encodeMarket(unusedMarket, null, NO_LOOKUPS), unusedBytes);
});

test("`joinJsonArray` joins zero, one and several items into a JSON array", () => {
  for (const values of [[], [1], [1, "zwei", { three: 3 }]]) {
    const bytes = joinJsonArray(values.map((value) => Buffer.from(JSON.stringify(value))));
    assert.deepEqual(JSON.parse(bytes.toString()), values);
  }
});

test("an unchanged page of 8 KiB or more is compressed once, a smaller one is not compressed", async () => {
  const item = Buffer.from(JSON.stringify("x".repeat(5_000)));
  const page = joinJsonArray([item, item]);
  assert.equal(await compress(page, "br"), await compress(joinJsonArray([item, item]), "br"));
  assert.notEqual(await compress(page, "br"), await compress(joinJsonArray([item, item, item]), "br"));
  assert.equal(isWorthCompressing(joinJsonArray([item])), false);
});

test("an unchanged page is joined once, a changed one again, and 64 pages are cached", () => {
  const createItems = (name: string) => ["a", "b"].map((id) => Buffer.from(JSON.stringify(`${name}-${id}`)));
  const items = createItems("page");
  const json = joinJsonArray(items);
  assert.equal(joinJsonArray([...items]), json);
  const changedItems = [...items.slice(0, 1), Buffer.from('"changed"')];
  assert.equal(String(joinJsonArray(changedItems)), '["page-a","changed"]');
  assert.equal(String(joinJsonArray(items.slice(0, 1))), '["page-a"]');
  const pages = Array.from({ length: 65 }, (_, number) => createItems(String(number)));
  const bodies = pages.map(joinJsonArray);
  assert.equal(joinJsonArray(pages[1] ?? []), bodies[1]);
  assert.notEqual(joinJsonArray(pages[0] ?? []), bodies[0], "the oldest page was discarded");
});
