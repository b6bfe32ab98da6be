import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { MarketSnapshot } from "../../domain/market.ts";
import { countDrops, readFixture } from "./fixtures/support.ts";
import { parseMarket } from "./parse.ts";
import { type EventFacts, parseEvent, takerFeeOf } from "./parse-event.ts";
import { type EventWire, isEvent, isMarket, isSeries, type MarketWire, type SeriesWire } from "./wire.ts";

const RECEIVED_AT = Date.UTC(2026, 10, 21, 3);

function readEvent(): EventWire {
  const [event] = (readFixture("events-page") as { events: unknown[] }).events;
  assert.ok(isEvent(event));
  return event;
}

function readSeries(ticker: string): SeriesWire {
  const series = (readFixture("series-list") as { series: { ticker: string }[] }).series.find(
    (one) => one.ticker === ticker,
  );
  assert.ok(isSeries(series));
  return series;
}

const rain: EventFacts = parseEvent(readEvent(), readSeries("KXRAINNYC"), "kalshi");

function parse(row: unknown, event: EventFacts | null = rain) {
  assert.ok(isMarket(row));
  const { drop, dropped } = countDrops();
  return { market: parseMarket(row, { venue: "kalshi", event, receivedAt: RECEIVED_AT, drop }), dropped };
}

function parseFixture(name: string, event: EventFacts | null = rain): MarketSnapshot & { dropped: object } {
  const { market, dropped } = parse((readFixture(name) as { market: unknown }).market, event);
  assert.ok(market);
  return { ...market, dropped };
}

test("market-active: decimal strings become prices, sizes and the listing's facts", () => {
  const { listing, quote, dropped } = parseFixture("market-active");
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
    tickSize: 0.01,
    takerFee: { kind: "quadratic", rate: 0.07, exponent: 1 },
    venueKeys: { series: "KXRAINNYC" },
  });
  assert.deepEqual(dropped, {});
});

test("market-active: dollars are contracts times the price now, and the venue's dead liquidity field is not read", () => {
  const { activity } = parseFixture("market-active");
  assert.deepEqual(activity, {
    volume24hUsd: 91.46,
    volumeTotalUsd: 667.29,
    liquidityUsd: null,
    openInterestUsd: 387.15,
  });
});

test("market-unquoted: a bid of 0 and an ask of 1 are no quotes, a last price of 0 is no trade, and none of them is dropped", () => {
  const { quote, activity, dropped } = parseFixture("market-unquoted");
  const { bid, ask, bidSize, askSize, lastPrice } = quote;
  assert.deepEqual(
    { bid, ask, bidSize, askSize, lastPrice },
    { bid: null, ask: null, bidSize: null, askSize: null, lastPrice: null },
  );
  assert.equal(activity.volume24hUsd, 0);
  assert.deepEqual(dropped, {});
});

test("market-one-sided: the absent bid is null and the ask stays", () => {
  const { quote } = parseFixture("market-one-sided");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, 0.03);
  assert.equal(quote.askSize, 4000);
});

test("market-paused: inactive is active and paused", () => {
  const { listing } = parseFixture("market-paused");
  assert.equal(listing.status, "active");
  assert.equal(listing.paused, true);
});

test("market-unopened: initialized is pending", () => {
  assert.equal(parseFixture("market-unopened").listing.status, "pending");
});

test("market-crossed: neither side of a crossed top is shown and it is counted once", () => {
  const { quote, dropped } = parseFixture("market-crossed");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, null);
  assert.equal(quote.bidSize, null);
  assert.equal(quote.lastPrice, 0.43);
  assert.deepEqual(dropped, { crossed_book: 1 });
});

test("market-price-out-of-range: cents, 1.70 and negative prices are dropped and counted, never rescaled", () => {
  const { quote, activity, dropped } = parseFixture("market-price-out-of-range");
  assert.equal(quote.bid, null);
  assert.equal(quote.ask, null);
  assert.equal(quote.lastPrice, null);
  assert.equal(activity.volume24hUsd, null);
  assert.deepEqual(dropped, { price_out_of_range: 3 });
});

test("market-closed-no-outcome: closed without a result has no outcome", () => {
  const { listing } = parseFixture("market-closed-no-outcome");
  assert.equal(listing.status, "closed");
  assert.equal(listing.outcome, null);
});

test("market-determined: the proposed result is told before the market is settled", () => {
  const { listing } = parseFixture("market-determined");
  assert.equal(listing.status, "determined");
  assert.deepEqual(listing.outcome, { kind: "yes" });
  assert.equal(listing.resolvedAt, null);
});

test("market-disputed: disputed counts as determined", () => {
  assert.equal(parseFixture("market-disputed").listing.status, "determined");
});

test("market-finalized-no: the result and the time of settlement are told", () => {
  const { listing } = parseFixture("market-finalized-no");
  assert.equal(listing.status, "finalized");
  assert.deepEqual(listing.outcome, { kind: "no" });
  assert.equal(listing.resolvedAt, Date.UTC(2026, 11, 2, 16, 3, 11, 250));
});

test("market-finalized-scalar: a scalar result pays the settlement value", () => {
  assert.deepEqual(parseFixture("market-finalized-scalar").listing.outcome, { kind: "partial", value: 0.3725 });
});

test("market-finalized-scalar-no-value: without the value the outcome is unknown and counted", () => {
  const { listing, dropped } = parseFixture("market-finalized-scalar-no-value");
  assert.equal(listing.outcome, null);
  assert.deepEqual(dropped, { outcome_without_value: 1 });
});

test("market-tapered-tick-fee-waiver: the finest step is the tick, a running waiver means no fee, six decimals are kept", () => {
  const { listing, quote } = parseFixture("market-tapered-tick-fee-waiver");
  assert.equal(listing.tickSize, 0.001);
  assert.deepEqual(listing.takerFee, { kind: "none" });
  assert.equal(listing.expectedResolutionAt, Date.UTC(2026, 11, 9, 5));
  assert.equal(quote.bid, 0.0915);
  assert.equal(quote.ask, 0.092125);
});

test("market-zero-times: the year 1, the year 9999 and words are no times", () => {
  const { listing } = parseFixture("market-zero-times");
  assert.equal(listing.openAt, null);
  assert.equal(listing.closeAt, null);
  assert.equal(listing.expectedResolutionAt, null);
});

test("a market whose event is unknown keeps its own title and claims neither category, fee nor page", () => {
  const { listing } = parseFixture("market-active", null);
  assert.equal(listing.title, "Will it rain more than 1 inch in NYC on Dec 1, 2026?");
  assert.equal(listing.category, null);
  assert.equal(listing.takerFee, null);
  assert.equal(listing.url, null);
});

test("markets-page-with-garbage: good rows survive, each bad one is refused by shape or dropped by reason", () => {
  const { markets } = readFixture("markets-page-with-garbage") as { markets: unknown[] };
  const rows = markets.filter(isMarket);
  assert.equal(markets.length - rows.length, 6);
  const { drop, dropped } = countDrops();
  const context = { venue: "kalshi", event: rain, receivedAt: RECEIVED_AT, drop };
  const listings = rows.flatMap((row) => parseMarket(row, context)?.listing ?? []);
  assert.deepEqual(
    listings.map(({ marketId, status }) => [marketId, status]),
    [
      ["KXRAINNYC-26DEC01-T1", "active"],
      ["KXRAINNYC-26DEC01-T2", "active"],
      // Its status is a word of tomorrow: there, but not for trading.
      ["KXBAD-1", "closed"],
    ],
  );
  assert.deepEqual(dropped, { combo_market: 1 });
});

test("event-fee-override: the event's own fee beats its series", () => {
  const { event } = readFixture("event-fee-override") as { event: unknown };
  assert.ok(isEvent(event));
  const facts = parseEvent(event, readSeries("KXINX"), "kalshi");
  assert.deepEqual(takerFeeOf(facts), { kind: "quadratic", rate: 0.035, exponent: 1 });
  assert.equal(facts.listing.mutuallyExclusive, true);
  assert.equal(facts.listing.exhaustive, false);
  assert.equal(facts.listing.category, "Financials");
  assert.equal(facts.listing.description, null);
});

test("events-page: without its series an event falls back to its own category and its fee is unknown", () => {
  const facts = parseEvent(readEvent(), null, "kalshi");
  assert.equal(facts.listing.category, "Weather (old)");
  assert.equal(takerFeeOf(facts), null);
  assert.equal(facts.listing.endAt, Date.UTC(2026, 11, 1, 5));
});

test("series-list: maker fees do not change what takers pay, flat amounts are unknown, a multiplier of 0 is free", () => {
  const feeOf = (ticker: string) => takerFeeOf(parseEvent(readEvent(), readSeries(ticker), "kalshi"));
  assert.deepEqual(feeOf("KXNBAGAME"), { kind: "quadratic", rate: 0.07, exponent: 1 });
  assert.equal(feeOf("KXFLAT"), null);
  assert.deepEqual(feeOf("KXFREE"), { kind: "none" });
});

test("whatever a row holds in its price fields, no price outside (0, 1), no crossed quote and no NaN comes out", () => {
  const { market } = readFixture("market-active") as { market: MarketWire };
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
