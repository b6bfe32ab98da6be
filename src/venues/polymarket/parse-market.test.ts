import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { type MarketSnapshot, yesPrice } from "../../domain/market.ts";
import { parseEvent, parseMarket } from "./parse-market.ts";
import type { ParsedResolution } from "./parse-resolution.ts";
import { StreamSettlements } from "./stream-settlements.ts";
import { createPolymarketDriftDetectors, type GammaEvent, isEventsPage, isGammaEvent, isGammaMarket } from "./wire.ts";

const readFixture = fixtureReader(import.meta.url);
const RECEIVED_AT = Date.UTC(2026, 10, 21);

function parse(row: unknown, event: GammaEvent | null = null, resolution: ParsedResolution | null = null) {
  assert.ok(isGammaMarket(row));
  const { drops, countDrop } = countDrops();
  const related = { event, isSole: event !== null, resolution };
  return {
    market: parseMarket(row, related, {
      id: "polymarket",
      receivedAt: RECEIVED_AT,
      countDrop,
      driftDetectors: createPolymarketDriftDetectors(() => {}),
      settlements: new StreamSettlements(new FakeClock()),
    }),
    drops,
  };
}

function parseFixture(name: string, resolution: ParsedResolution | null = null): MarketSnapshot {
  const { market } = parse(readFixture(name), null, resolution);
  assert.ok(market !== null);
  return market;
}

function eventsOf(name: string): GammaEvent[] {
  const page = readFixture(name);
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

  test("decodes arrays in strings and uses the first token as the YES side", () => {
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
        priceRanges: [{ from: 0, to: 1, step: 0.01 }],
        minOrderContracts: 5,
        contractStep: 0.01,
        takerDelayMs: null,
        protocolVersion: null,
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

  test("treats an augmented event as exclusive but not exhaustive and omits its Other row", () => {
    assert.ok(leader !== undefined);
    const event = parseEvent(leader, "polymarket", true);
    assert.equal(event?.mutuallyExclusive, true);
    assert.equal(event?.exhaustive, false);
    assert.deepEqual(parse(nested(leader, 4), leader), { market: null, drops: {} });
    assert.equal(parse(nested(leader, 0), leader).market?.listing.outcomeLabel, "A. Adler");
    assert.equal(parse(nested(leader, 3), leader).market?.listing.status, "pending");
  });

  test("treats a negative-risk event as exclusive and exhaustive, any other event as neither", () => {
    assert.ok(leader !== undefined && rain !== undefined);
    assert.equal(parseEvent({ ...leader, negRiskAugmented: false }, "polymarket", true)?.exhaustive, true);
    const plain = parseEvent(rain, "polymarket", true);
    assert.deepEqual([plain?.mutuallyExclusive, plain?.exhaustive, plain?.featured], [false, false, true]);
  });

  test("returns null for an incomplete event without the negative-risk flag", () => {
    assert.equal(parseEvent({ id: "1", title: "Short" }, "polymarket", false), null);
    assert.equal(parseEvent({ id: "1", title: "Short" }, "polymarket", true)?.mutuallyExclusive, false);
  });

  test("names the YES side in title and label of a market with two named sides", () => {
    const cases: readonly (readonly [string, string, string | null, string | null, string])[] = [
      ["Owls vs Hawks (BO3)", '["Owls","Hawks"]', "Match Winner", "Match Winner: Owls", " — Match Winner: Owls"],
      ["Handicap: Owls (-1.5)", '["Owls","Hawks"]', "Handicap: Owls (-1.5)", "Owls", " — Owls"],
      ["Owls vs Hawks", '["Owls","Hawks"]', "Owls", "Owls", " — Owls"],
      ["Owls vs Hawks: 2.5 maps", '["Over","Under"]', "O/U 2.5", "O/U 2.5: Over", " — O/U 2.5: Over"],
      ["Bitcoin up or down?", '["Up","Down"]', null, "Up", " — Up"],
      ["Will it stay dry?", '["No","Yes"]', "June", "June: No", " — June: No"],
      ["Will A. Adler win?", '["Yes","No"]', "A. Adler", "A. Adler", ""],
      ["Will it rain?", '["YES","NO"]', "", null, ""],
      ["Will it rain?", "not JSON", " June ", "June", ""],
    ];
    for (const [question, outcomes, groupItemTitle, label, suffix] of cases) {
      const row = { ...Object(nested(rain, 0)), question, outcomes, groupItemTitle };
      const listing = parse(row, rain).market?.listing;
      assert.deepEqual([listing?.outcomeLabel, listing?.title], [label, `${question}${suffix}`]);
    }
  });

  test("reads the category of a sports market without tags from the kind of the market", () => {
    const row = { ...Object(nested(rain, 0)), tags: undefined, category: undefined, sportsMarketType: "moneyline" };
    assert.equal(parse(row).market?.listing.category, "Sports");
  });

  test("reads an open interest of 0 as unknown", () => {
    assert.ok(rain !== undefined);
    const event = { ...rain, openInterest: 0 };
    assert.equal(parse(nested(event, 0), event).market?.activity.openInterestUsd, null);
  });

  test("a market with stub quotes and no trade has no price, although the venue displays 0.5", () => {
    const quotes = { bestBid: 0.001, bestAsk: 0.999, lastTradePrice: 0, outcomePrices: '["0.5","0.5"]' };
    const { market } = parse({ ...Object(nested(rain, 0)), ...quotes }, rain);
    assert.ok(market !== null);
    assert.deepEqual([market.quote.bid, market.quote.ask, yesPrice(market.quote)], [0.001, 0.999, null]);
  });

  test("reads a numeric id as text", () => {
    const { market } = parse(nested(bitcoin, 0), bitcoin);
    assert.equal(market?.listing.category, "Crypto");
    assert.equal(market?.listing.eventId, "55003");
  });

  test("returns no fee if fees are disabled, and an unknown fee without a fee schedule", () => {
    assert.deepEqual(parse(nested(leader, 0), leader).market?.listing.takerFee, { kind: "none" });
    assert.equal(parse(nested(leader, 1), leader).market?.listing.takerFee, null);
  });
});

describe("polymarket: single markets", () => {
  test("reads numeric strings as numbers, and empty and null texts as absent", () => {
    const { listing, quote, activity } = parseFixture("market/numbers-as-strings");
    assert.deepEqual([quote.bid, quote.ask, quote.lastPrice], [0.431, 0.4365, 0.43]);
    assert.deepEqual(
      [activity.volumeTotalUsd, activity.volume24hUsd, activity.liquidityUsd],
      [15340.12, 310.2, 2200.5],
    );
    assert.deepEqual(listing.priceRanges, [{ from: 0, to: 1, step: 0.0005 }]);
    assert.deepEqual(listing.takerFee, { kind: "quadratic", rate: 0.07, exponent: 2 });
    assert.equal(listing.rules, null);
    assert.equal(listing.outcomeLabel, null);
    assert.equal(listing.url, "https://polymarket.com/market/question-900400");
  });

  test("reads best prices of 0 and 1 as absent, without counting a drop", () => {
    const { market, drops } = parse(readFixture("market/no-quotes"));
    assert.deepEqual(drops, {});
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, null]);
    assert.deepEqual(market?.activity, {
      volume24hUsd: null,
      volumeTotalUsd: null,
      liquidityUsd: null,
      openInterestUsd: null,
    });
  });

  test("omits both sides of a crossed quote and counts it", () => {
    const { market, drops } = parse(readFixture("market/crossed"));
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, 0.43]);
    assert.deepEqual(drops, { crossed_book: 1 });
  });

  test("drops and counts prices outside [0, 1], and reads invalid amounts as null", () => {
    const { market, drops } = parse(readFixture("market/prices-out-of-range"));
    assert.deepEqual([market?.quote.bid, market?.quote.ask, market?.quote.lastPrice], [null, null, null]);
    assert.equal(market?.activity.volumeTotalUsd, null);
    assert.deepEqual(drops, { price_out_of_range: 3 });
  });

  test("parses a resolved market with its outcome and dates, without bid and ask", () => {
    const { listing, quote } = parseFixture("market/closed-resolved-no");
    assert.equal(listing.status, "finalized");
    assert.deepEqual(listing.outcome, { kind: "no" });
    assert.equal(listing.resolvedAt, Date.UTC(2026, 10, 20, 15));
    assert.equal(listing.expectedResolutionAt, Date.UTC(2026, 10, 20, 14, 58));
    assert.equal(listing.venueKeys.conditionId?.length, 64, "accepts an id of 62 hex digits");
    assert.deepEqual([quote.bid, quote.ask, quote.lastPrice], [null, null, 0.003]);
  });

  for (const [name, status, outcome] of [
    ["market/closed-fifty-fifty", "finalized", { kind: "partial", value: 0.5 }],
    ["market/closed-resolved-without-status", "finalized", { kind: "yes" }],
    ["market/closed-no-outcome", "closed", null],
    ["market/not-accepting-orders", "closed", null],
    ["market/about-to-open", "pending", null],
    ["market/past-end-date-still-trading", "active", null],
  ] as const) {
    test(`${name} has status ${status} and outcome ${JSON.stringify(outcome)}`, () => {
      const { listing } = parseFixture(name);
      assert.deepEqual([listing.status, listing.outcome], [status, outcome]);
    });
  }

  test("prefers payouts to final prices", () => {
    const resolution: ParsedResolution = { state: "settled", outcome: { kind: "yes" }, resolvedAt: 1_795_229_990_000 };
    const { listing } = parseFixture("market/closed-resolved-no", resolution);
    assert.deepEqual([listing.outcome, listing.resolvedAt], [{ kind: "yes" }, 1_795_229_990_000]);
  });

  test("keeps the quotes of a disputed market that accepts orders, and drops them when it accepts none", () => {
    const row = Object(readFixture("market/disputed"));
    const trading = parse(row).market;
    assert.ok(trading !== null && trading.quote.bid !== null);
    assert.deepEqual([trading.listing.status, trading.listing.outcome], ["active", null]);
    const halted = parse({ ...row, acceptingOrders: false }).market;
    assert.deepEqual([halted?.listing.status, halted?.listing.outcome, halted?.quote.bid], ["determined", null, null]);
  });

  test("drops and counts rows with three outcomes or without tokens", () => {
    for (const name of ["market/three-outcomes", "market/without-tokens"]) {
      assert.deepEqual(parse(readFixture(name)), { market: null, drops: { not_binary: 1 } });
    }
  });

  test("returns prices in (0, 1) and no NaN for any values of the optional fields", () => {
    const base = readFixture("market/numbers-as-strings");
    const invalidValue = fc.oneof(
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
      fc.property(fc.dictionary(fc.constantFrom(...names), invalidValue), fc.boolean(), (changes, closed) => {
        const { market } = parse({ ...Object(base), ...changes, closed });
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

test("reads the tokens of protocol V2 from the position ids, sent as a list or as JSON text", () => {
  const row = Object(readFixture("market/numbers-as-strings"));
  const ids = ["6200000000000000000000000000000000000000000000", "6200000000000000000000000000000000000000000001"];
  const conditionId = `0x${"5e".repeat(31)}`;
  const tokensOf = (fields: object) => {
    const keys = parse({ ...row, conditionId, ...fields }).market?.listing.venueKeys;
    return keys === undefined ? null : [keys.tokenYes, keys.tokenNo];
  };
  const v2 = { version: "v2", clobTokenIds: null };
  assert.deepEqual(tokensOf({ ...v2, positionIds: ids }), ids);
  assert.deepEqual(tokensOf({ ...v2, positionIds: JSON.stringify(ids) }), ids);
  assert.deepEqual(tokensOf({ version: "v2", clobTokenIds: '["7", "8"]', positionIds: ids }), ids);
  assert.deepEqual(tokensOf({ version: "v2", clobTokenIds: '["7", "8"]', positionIds: null }), ["7", "8"]);
  assert.deepEqual(tokensOf({ version: "v1", clobTokenIds: '["7", "8"]', positionIds: ids }), ["7", "8"]);
  assert.deepEqual(tokensOf({ version: null, clobTokenIds: null, positionIds: ids }), ids);
  for (const positionIds of [null, [], [ids[0]], [ids[0], ids[0]], "ids"])
    assert.equal(tokensOf({ ...v2, positionIds }), null);
});
