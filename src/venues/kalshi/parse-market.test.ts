import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import type { MarketSnapshot } from "../../domain/market.ts";
import { FEE_ROUNDING, type ParsedEvent, parseEvent, takerFeeOf } from "./parse-event.ts";
import { parseMarket } from "./parse-market.ts";
import { type EventWire, isEvent, isMarket, isSeries, type MarketWire, type SeriesWire } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const RECEIVED_AT = Date.UTC(2026, 10, 21, 3);

function readEvent(): EventWire {
  const [event] = (readFixture("event/page") as { events: unknown[] }).events;
  assert.ok(isEvent(event));
  return event;
}

function readSeries(ticker: string): SeriesWire {
  const series = (readFixture("event/series-list") as { series: { ticker: string }[] }).series.find(
    (each) => each.ticker === ticker,
  );
  assert.ok(isSeries(series));
  return series;
}

const rainEvent: ParsedEvent = parseEvent(readEvent(), readSeries("KXRAINNYC"), "kalshi");

function parse(row: unknown, event: ParsedEvent | null = rainEvent) {
  assert.ok(isMarket(row));
  const { countDrop, drops } = countDrops();
  return {
    market: parseMarket(row, {
      venue: "kalshi",
      event,
      receivedAt: RECEIVED_AT,
      countDrop,
      feeRounding: FEE_ROUNDING.other,
    }),
    drops,
  };
}

function parseFixture(name: string, event: ParsedEvent | null = rainEvent): MarketSnapshot & { drops: object } {
  const { market, drops } = parse((readFixture(name) as { market: unknown }).market, event);
  assert.ok(market);
  return { ...market, drops };
}

test("parses an active market: decimal strings become numbers", () => {
  const { listing, quote, drops } = parseFixture("market/active");
  assert.deepEqual(quote, {
    bid: 0.42,
    ask: 0.45,
    bidSize: 120,
    askSize: 75.5,
    lastPrice: 0.43,
    indicativePrice: null,
    eventAt: null,
    receivedAt: RECEIVED_AT,
  });
  assert.deepEqual(listing, {
    venue: "kalshi",
    marketId: "KXRAINNYC-26DEC01-T1",
    eventId: "KXRAINNYC-26DEC01",
    title: "Rain in NYC on Dec 1, 2026? — Over 1 inch",
    outcomeLabel: "Over 1 inch",
    url: "https://kalshi.com/markets/kxrainnyc/rain-in-nyc-on-dec-1-2026/kxrainnyc-26dec01",
    category: "Climate and Weather",
    status: "active",
    paused: false,
    outcome: null,
    rules:
      "If more than 1 inch of rain is measured in Central Park on December 1, 2026, the market resolves to Yes.\n\nThe source is the daily climate report.",
    openAt: Date.UTC(2026, 10, 20, 15),
    closeAt: Date.UTC(2026, 11, 2, 4, 59),
    expectedResolutionAt: Date.UTC(2026, 11, 2, 15),
    resolvedAt: null,
    priceRanges: [{ from: 0, to: 1, step: 0.01 }],
    minOrderContracts: 0.01,
    contractStep: 0.01,
    takerDelayMs: null,
    protocolVersion: null,
    takerFee: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
    venueKeys: { series: "KXRAINNYC" },
  });
  assert.deepEqual(drops, {});
});

test("dollar amounts are half the contracts, and the obsolete liquidity field is ignored", () => {
  const { activity } = parseFixture("market/active");
  assert.deepEqual(activity, {
    volume24hUsd: 105.13,
    volumeTotalUsd: 767,
    liquidityUsd: null,
    openInterestUsd: 445,
  });
});

test("the side of a game with more contracts has the higher volume, although its price is near 0", () => {
  const volumeOf = (fields: object) => {
    const { market } = readFixture("market/active") as { market: object };
    return parse({ ...market, ...fields }).market?.activity.volume24hUsd;
  };
  const winner = { yes_bid_dollars: "0.9600", yes_ask_dollars: "0.9800", volume_24h_fp: "40000.00" };
  const loser = { yes_bid_dollars: "0.0200", yes_ask_dollars: "0.0400", volume_24h_fp: "60000.00" };
  assert.deepEqual([volumeOf(winner), volumeOf(loser)], [20_000, 30_000]);
});

test("the volume of a market without a price is known", () => {
  const { market } = readFixture("market/unquoted") as { market: object };
  assert.equal(parse({ ...market, volume_24h_fp: "12.00" }).market?.activity.volume24hUsd, 6);
});

test("reads a bid of 0, an ask of 1 and a last price of 0 as absent, without counting a drop", () => {
  const { quote, activity, drops } = parseFixture("market/unquoted");
  const { bid, ask, bidSize, askSize, lastPrice } = quote;
  assert.deepEqual(
    { bid, ask, bidSize, askSize, lastPrice },
    { bid: null, ask: null, bidSize: null, askSize: null, lastPrice: null },
  );
  assert.equal(activity.volume24hUsd, 0);
  assert.deepEqual(drops, {});
});

test("keeps the ask of a market without a bid", () => {
  const { quote } = parseFixture("market/one-sided");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, 0.03);
  assert.equal(quote.askSize, 4000);
});

for (const [name, status, outcome, resolvedAt] of [
  ["unopened", "pending", null, null],
  ["closed-no-outcome", "closed", null, null],
  ["determined", "determined", { kind: "yes" }, null],
  ["disputed", "determined", { kind: "no" }, null],
  ["finalized-no", "finalized", { kind: "no" }, Date.UTC(2026, 11, 2, 16, 3, 11, 250)],
  ["finalized-scalar", "finalized", { kind: "partial", value: 0.3725 }, Date.UTC(2026, 11, 2, 16, 3, 11)],
] as const) {
  test(`market/${name} has status ${status} and outcome ${JSON.stringify(outcome)}`, () => {
    const { listing } = parseFixture(`market/${name}`);
    assert.deepEqual([listing.status, listing.outcome, listing.resolvedAt], [status, outcome, resolvedAt]);
  });
}

test("maps the status inactive to active and paused", () => {
  const { listing } = parseFixture("market/paused");
  assert.deepEqual([listing.status, listing.paused], ["active", true]);
});

test("omits both sides of a crossed quote and counts it once", () => {
  const { quote, drops } = parseFixture("market/crossed");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, null);
  assert.equal(quote.bidSize, null);
  assert.equal(quote.lastPrice, 0.43);
  assert.deepEqual(drops, { crossed_book: 1 });
});

test("drops and counts prices in cents, above 1 and below 0, and does not rescale them", () => {
  const { quote, drops } = parseFixture("market/price-out-of-range");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, null);
  assert.equal(quote.lastPrice, null);
  assert.deepEqual(drops, { price_out_of_range: 3 });
});

test("reads price ranges regardless of the structure's name, and has no grid without valid ranges", () => {
  const { market: row } = readFixture("market/active") as { market: object };
  const ranges = [
    { start: "0.0000", end: "0.0100", step: "0.0001" },
    { start: "0.0100", end: "0.9900", step: "0.0010" },
    { start: "0.9900", end: "1.0000", step: "0.0001" },
  ];
  const parseRanges = (price_ranges: unknown, price_level_structure = "a_new_structure") => {
    const { market, drops } = parse({ ...row, price_ranges, price_level_structure });
    return [market?.listing.priceRanges, drops];
  };
  const expected = [
    { from: 0, to: 0.01, step: 0.0001 },
    { from: 0.01, to: 0.99, step: 0.001 },
    { from: 0.99, to: 1, step: 0.0001 },
  ];
  assert.deepEqual(parseRanges(ranges), [expected, {}]);
  for (const absent of [undefined, null, []]) assert.deepEqual(parseRanges(absent, "linear_cent"), [null, {}]);
  for (const invalid of [ranges.toReversed(), [...ranges, { step: "0.01" }], [{ ...ranges[0], step: "0" }], [7]])
    assert.deepEqual(parseRanges(invalid, "linear_cent"), [null, { bad_price_range: 1 }]);
});

test("a market without fractional trading has whole contracts", () => {
  const { market: row } = readFixture("market/active") as { market: object };
  const { listing } = parse({ ...row, fractional_trading_enabled: false }).market ?? {};
  assert.deepEqual([listing?.contractStep, listing?.minOrderContracts], [1, 1]);
});

test("if a scalar result has no value, returns no outcome and counts the market", () => {
  const { listing, drops } = parseFixture("market/finalized-scalar-no-value");
  assert.equal(listing.outcome, null);
  assert.deepEqual(drops, { outcome_without_value: 1 });
});

test("reads all price ranges, returns no fee during a fee waiver, and keeps six decimals of prices", () => {
  const { listing, quote } = parseFixture("market/tapered-tick-fee-waiver");
  assert.deepEqual(listing.priceRanges, [
    { from: 0, to: 0.1, step: 0.001 },
    { from: 0.1, to: 0.9, step: 0.01 },
    { from: 0.9, to: 1, step: 0.001 },
  ]);
  assert.deepEqual(listing.takerFee, { kind: "none" });
  assert.equal(listing.expectedResolutionAt, Date.UTC(2026, 11, 9, 5));
  assert.equal(quote.bid, 0.0915);
  assert.equal(quote.ask, 0.092125);
});

test("reads malformed times and times in the years 1 and 9999 as null", () => {
  const { listing } = parseFixture("market/zero-times");
  assert.equal(listing.openAt, null);
  assert.equal(listing.closeAt, null);
  assert.equal(listing.expectedResolutionAt, null);
});

test("if the event is unknown, uses the market's own title and returns no category, fee or URL", () => {
  const { listing } = parseFixture("market/active", null);
  assert.equal(listing.title, "Will it rain more than 1 inch in NYC on Dec 1, 2026?");
  assert.equal(listing.category, null);
  assert.equal(listing.takerFee, null);
  assert.equal(listing.url, null);
});

test("omits combos, which have a collection, combined markets or both", () => {
  const { market } = readFixture("market/active") as { market: object };
  const collection = { mve_collection_ticker: "KXMVE-R" };
  const legs = { mve_selected_legs: [{ event_ticker: "KXA", market_ticker: "KXA-B", side: "yes" }] };
  for (const combo of [collection, legs, { ...collection, ...legs }]) {
    assert.deepEqual(parse({ ...market, ...combo }), { market: null, drops: { combo_market: 1 } });
  }
  assert.ok(parse({ ...market, mve_collection_ticker: "", mve_selected_legs: [] }).market);
});

test("prefers the fee of the event to the fee of its series", () => {
  const { event } = readFixture("event/fee-override") as { event: unknown };
  assert.ok(isEvent(event));
  const facts = parseEvent(event, readSeries("KXINX"), "kalshi");
  assert.deepEqual(takerFeeOf(facts, FEE_ROUNDING.other), {
    kind: "quadratic",
    rate: 0.035,
    exponent: 1,
    rounding: { feeStep: 0.0001, balanceStep: 0.01 },
  });
  assert.equal(facts.listing.mutuallyExclusive, true);
  assert.equal(facts.listing.exhaustive, false);
  assert.equal(facts.listing.category, "Financials");
  assert.equal(facts.listing.description, null);
});

test("if the series is unknown, uses the event's category and returns no fee", () => {
  const facts = parseEvent(readEvent(), null, "kalshi");
  assert.equal(facts.listing.category, "Weather (old)");
  assert.equal(takerFeeOf(facts, FEE_ROUNDING.other), null);
  assert.equal(facts.listing.endAt, Date.UTC(2026, 11, 1, 5));
});

test("ignores maker fees; a flat fee is unknown and a multiplier of 0 means no fee", () => {
  const feeOf = (ticker: string) =>
    takerFeeOf(parseEvent(readEvent(), readSeries(ticker), "kalshi"), FEE_ROUNDING.direct);
  const rounding = { feeStep: 0.0001, balanceStep: 0.0001 };
  assert.deepEqual(feeOf("KXNBAGAME"), { kind: "quadratic", rate: 0.07, exponent: 1, rounding });
  assert.equal(feeOf("KXFLAT"), null);
  assert.deepEqual(feeOf("KXFREE"), { kind: "none" });
});

test("returns no price outside (0, 1), no crossed quote and no NaN for any field values", () => {
  const { market } = readFixture("market/active") as { market: MarketWire };
  const value = fc.oneof(
    fc.constant(undefined),
    fc.constant(null),
    fc.double(),
    fc.double({ min: -0.5, max: 1.5 }).map(String),
    fc.string({ maxLength: 10 }),
    fc.constantFrom("NaN", "Infinity", "1e-3", "0.0000", "1.0000", "47", "0.5"),
  );
  fc.assert(
    fc.property(value, value, value, value, value, (bid, ask, last, size, volume) => {
      const row: unknown = {
        ...market,
        yes_bid_dollars: bid,
        yes_ask_dollars: ask,
        last_price_dollars: last,
        yes_bid_size_fp: size,
        volume_24h_fp: volume,
      };
      if (!isMarket(row)) return;
      const parsed = parse(row).market;
      assert.ok(parsed);
      const { quote, activity } = parsed;
      for (const price of [quote.bid, quote.ask, quote.lastPrice])
        assert.ok(price === null || (price > 0 && price < 1));
      assert.ok(quote.bid === null || quote.ask === null || quote.bid < quote.ask);
      assert.ok(quote.bidSize === null || quote.bidSize > 0);
      for (const usd of Object.values(activity)) assert.ok(usd === null || (Number.isFinite(usd) && usd >= 0));
    }),
  );
});
