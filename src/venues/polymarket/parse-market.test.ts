import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { MarketSnapshot } from "../../domain/market.ts";
import { parseEvent, parseMarket } from "./parse-market.ts";
import type { ResolutionFacts } from "./parse-resolution.ts";
import { countDrops, fixture } from "./test-fixtures.ts";
import { detectPolymarketDrift, type GammaEvent, isEventsPage, isGammaEvent, isGammaMarket } from "./wire.ts";

const RECEIVED_AT = Date.UTC(2026, 10, 21);

function parse(row: unknown, event: GammaEvent | null = null, resolution: ResolutionFacts | null = null) {
  assert.ok(isGammaMarket(row));
  const { drops, drop } = countDrops();
  const around = { event, isSole: event !== null, resolution };
  return {
    market: parseMarket(row, around, {
      venue: "polymarket",
      receivedAt: RECEIVED_AT,
      drop,
      detectors: detectPolymarketDrift(() => {}),
    }),
    drops,
  };
}

function parsed(name: string, resolution: ResolutionFacts | null = null): MarketSnapshot {
  const { market } = parse(fixture(name), null, resolution);
  assert.ok(market !== null);
  return market;
}

function eventsOf(name: string): GammaEvent[] {
  const page = fixture(name);
  assert.ok(isEventsPage(page));
  return page.events.map((row) => {
    assert.ok(isGammaEvent(row));
    return row;
  });
}

const nested = (event: GammaEvent | undefined, position: number): unknown =>
  Array.isArray(event?.markets) ? event.markets[position] : undefined;

describe("polymarket: market of an event page", () => {
  const [rain, leader, bitcoin] = eventsOf("event/keyset-page");

  test("arrays inside strings are read twice, and the first token is the YES side", () => {
    const { market, drops } = parse(nested(rain, 0), rain);
    assert.deepEqual(drops, {});
    assert.equal(market?.listing.venueKeys.tokenYes?.[0], "7");
    assert.equal(market?.listing.venueKeys.tokenNo?.[0], "5");
    assert.deepEqual(
      { ...market?.listing, venueKeys: null },
      {
        venue: "polymarket",
        marketId: "900123",
        eventId: "55001",
        title: "Will it rain in NYC on December 1?",
        outcomeLabel: null,
        url: "https://polymarket.com/event/rain-nyc-dec/rain-nyc-dec-1",
        category: "Weather",
        status: "active",
        paused: false,
        outcome: null,
        rules: "Resolves Yes if it happens.\n\nOtherwise No.",
        openAt: Date.UTC(2026, 10, 1, 12),
        closeAt: Date.UTC(2026, 11, 2, 5),
        expectedResolutionAt: Date.UTC(2026, 11, 2, 5),
        resolvedAt: null,
        tickSize: 0.01,
        takerFee: { kind: "quadratic", rate: 0.05, exponent: 1 },
        venueKeys: null,
      },
    );
    assert.deepEqual(market?.quote, {
      bid: 0.43,
      ask: 0.44,
      bidSize: null,
      askSize: null,
      lastPrice: 0.43,
      indicativePrice: null,
      eventAt: null,
      receivedAt: RECEIVED_AT,
    });
    assert.deepEqual(market?.activity, {
      volume24hUsd: 310.2,
      volumeTotalUsd: 15340.12,
      liquidityUsd: 2200.5,
      openInterestUsd: 4100.5,
    });
  });

  test("an augmented event is exclusive but not exhaustive; its Other row is no market", () => {
    assert.ok(leader !== undefined);
    const event = parseEvent(leader, "polymarket", true);
    assert.equal(event?.mutuallyExclusive, true);
    assert.equal(event?.exhaustive, false);
    assert.deepEqual(parse(nested(leader, 4), leader), { market: null, drops: {} });
    assert.equal(parse(nested(leader, 0), leader).market?.listing.outcomeLabel, "A. Adler");
    assert.equal(parse(nested(leader, 3), leader).market?.listing.status, "pending");
  });

  test("a plain negative-risk event is exhaustive, one without the flag is neither", () => {
    assert.ok(leader !== undefined && rain !== undefined);
    assert.equal(parseEvent({ ...leader, negRiskAugmented: false }, "polymarket", true)?.exhaustive, true);
    const plain = parseEvent(rain, "polymarket", true);
    assert.deepEqual([plain?.mutuallyExclusive, plain?.exhaustive, plain?.featured], [false, false, true]);
  });

  test("a short event that does not say whether it is exclusive is not guessed at", () => {
    assert.equal(parseEvent({ id: "1", title: "Short" }, "polymarket", false), null);
    assert.equal(parseEvent({ id: "1", title: "Short" }, "polymarket", true)?.mutuallyExclusive, false);
  });

  test("outcomes that are not called Yes and No name the YES side, and a numeric id is text", () => {
    const { market } = parse(nested(bitcoin, 0), bitcoin);
    assert.equal(market?.listing.outcomeLabel, "Up");
    assert.equal(market?.listing.category, "Crypto");
    assert.equal(market?.listing.eventId, "55003");
  });

  test("no fee where fees are off, an unknown fee where they are on but not told", () => {
    assert.deepEqual(parse(nested(leader, 0), leader).market?.listing.takerFee, { kind: "none" });
    assert.equal(parse(nested(leader, 1), leader).market?.listing.takerFee, null);
  });
});

describe("polymarket: single markets", () => {
  test("numbers that come as strings are numbers, empty and null texts are absent", () => {
    const { listing, quote, activity } = parsed("market/numbers-as-strings");
    assert.deepEqual([quote.bid, quote.ask, quote.lastPrice], [0.431, 0.4365, 0.43]);
    assert.deepEqual(
      [activity.volumeTotalUsd, activity.volume24hUsd, activity.liquidityUsd],
      [15340.12, 310.2, 2200.5],
    );
    assert.equal(listing.tickSize, 0.0005);
    assert.deepEqual(listing.takerFee, { kind: "quadratic", rate: 0.07, exponent: 2 });
    assert.equal(listing.rules, null);
    assert.equal(listing.outcomeLabel, null);
    assert.equal(listing.url, "https://polymarket.com/market/question-900400");
  });

  test("0 and 1 as best prices mean that nobody quotes, which is not garbage", () => {
    const { market, drops } = parse(fixture("market/no-quotes"));
    assert.deepEqual(drops, {});
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, null]);
    assert.deepEqual(market?.activity, {
      volume24hUsd: null,
      volumeTotalUsd: null,
      liquidityUsd: null,
      openInterestUsd: null,
    });
  });

  test("a crossed top of book loses both sides and is counted", () => {
    const { market, drops } = parse(fixture("market/crossed"));
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, 0.43]);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("prices outside [0, 1] are dropped and counted, negative and unreadable amounts are unknown", () => {
    const { market, drops } = parse(fixture("market/prices-out-of-range"));
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, null]);
    assert.equal(market?.activity.volumeTotalUsd, null);
    assert.deepEqual(drops, { price_out_of_range: 3 });
  });

  test("a resolved market is final with its outcome, dates with a space are read, stale quotes are not shown", () => {
    const { listing, quote } = parsed("market/closed-resolved-no");
    assert.equal(listing.status, "finalized");
    assert.deepEqual(listing.outcome, { kind: "no" });
    assert.equal(listing.resolvedAt, Date.UTC(2026, 10, 20, 15));
    assert.equal(listing.expectedResolutionAt, Date.UTC(2026, 10, 20, 14, 58));
    assert.equal(listing.venueKeys.conditionId?.length, 64, "62 hex digits are an id too");
    assert.deepEqual([quote.bid, quote.ask, quote.lastPrice], [null, null, 0.003]);
  });

  test("a half each is a partial outcome", () => {
    assert.deepEqual(parsed("market/closed-fifty-fifty").listing.outcome, { kind: "partial", value: 0.5 });
  });

  test("closed with a price near 1 is closed, not resolved: an indicative price is no result", () => {
    const { listing } = parsed("market/closed-no-outcome");
    assert.deepEqual([listing.status, listing.outcome, listing.resolvedAt], ["closed", null, null]);
  });

  test("closed with exact final prices is final though no status says so", () => {
    const { listing } = parsed("market/closed-resolved-without-status");
    assert.deepEqual([listing.status, listing.outcome], ["finalized", { kind: "yes" }]);
  });

  test("payouts overrule final prices", () => {
    const facts: ResolutionFacts = { state: "settled", outcome: { kind: "yes" }, resolvedAt: 1_795_229_990_000 };
    const { listing } = parsed("market/closed-resolved-no", facts);
    assert.deepEqual([listing.outcome, listing.resolvedAt], [{ kind: "yes" }, 1_795_229_990_000]);
  });

  test("a disputed market is determined without an outcome, and its price is not shown as tradable", () => {
    const { listing, quote } = parsed("market/disputed");
    assert.deepEqual([listing.status, listing.outcome, quote.bid], ["determined", null, null]);
  });

  test("orders not taken is closed, orders not yet taken is pending, a passed end date is neither", () => {
    assert.equal(parsed("market/not-accepting-orders").listing.status, "closed");
    assert.equal(parsed("market/about-to-open").listing.status, "pending");
    const late = parsed("market/past-end-date-still-trading");
    assert.deepEqual([late.listing.status, late.quote.bid], ["active", 0.43]);
  });

  test("rows with three outcomes or without tokens are skipped and counted", () => {
    for (const name of ["market/three-outcomes", "market/without-tokens"]) {
      assert.deepEqual(parse(fixture(name)), { market: null, drops: { not_binary: 1 } });
    }
  });

  test("whatever stands in the optional fields, prices stay in (0, 1) and nothing is NaN", () => {
    const base = fixture("market/numbers-as-strings");
    const junk = fc.oneof(
      fc.double(),
      fc.string(),
      fc.constant(null),
      fc.array(fc.string()),
      fc.dictionary(fc.string(), fc.double()),
    );
    const names = [
      "bestBid",
      "bestAsk",
      "lastTradePrice",
      "volumeNum",
      "volume24hr",
      "endDate",
      "feeSchedule",
      "tags",
      "outcomes",
      "outcomePrices",
      "closedTime",
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), junk), fc.boolean(), (spoilt, closed) => {
        const { market } = parse({ ...Object(base), ...spoilt, closed });
        assert.ok(market !== null);
        for (const price of [market.quote.bid, market.quote.ask, market.quote.lastPrice])
          assert.ok(price === null || (price > 0 && price < 1));
        for (const amount of Object.values(market.activity))
          assert.ok(amount === null || (Number.isFinite(amount) && amount >= 0));
        for (const at of [market.listing.closeAt, market.listing.resolvedAt])
          assert.ok(at === null || Number.isFinite(at));
      }),
      { numRuns: 300 },
    );
  });
});
