import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { countDrops } from "../../../test/support/venues/count-drops.ts";
import { fixtureReader } from "../../../test/support/venues/fixtures.ts";
import { type MarketSnapshot, yesPrice } from "../../domain/market.ts";
import { parseRows } from "./parse-market.ts";
import { createLimitlessDriftDetectors } from "./wire.ts";

const fixture = fixtureReader(import.meta.url);
const RECEIVED_AT = Date.UTC(2026, 10, 21, 4);

function parse(rows: readonly unknown[]) {
  const { drops, countDrop } = countDrops();
  const parsed = parseRows(rows, {
    id: "limitless",
    receivedAt: RECEIVED_AT,
    countDrop,
    driftDetectors: createLimitlessDriftDetectors(() => {}),
  });
  return { ...parsed, drops };
}

function parseOne(name: string): { market: MarketSnapshot; drops: Record<string, number> } {
  const { markets, drops } = parse([fixture(name)]);
  const [market] = markets;
  assert.ok(market !== undefined && markets.length === 1);
  return { market, drops };
}

describe("a page with a single market and a group", () => {
  const page = fixture("market/page-single-and-group") as { data: unknown[] };
  const { markets, events, drops } = parse(page.data);

  test("the single market has no event and the children have the group's slug as their event", () => {
    assert.deepEqual(
      markets.map(({ listing }) => [listing.marketId, listing.eventId, listing.outcomeLabel]),
      [
        ["rain-nyc-dec-1-1795000000000", null, null],
        ["driver-a-1784000001000", "f1-champion-2026-1784000000000", "Driver A"],
        ["driver-b-1784000002000", "f1-champion-2026-1784000000000", "Driver B"],
      ],
    );
    assert.deepEqual(drops, {});
  });

  test("bid and ask are the prices at which a taker sells and buys YES; the last price is null", () => {
    const quote = markets[0]?.quote;
    assert.deepEqual(quote, {
      bid: 0.43,
      ask: 0.447,
      bidSize: null,
      askSize: null,
      lastPrice: null,
      indicativePrice: null,
      eventAt: null,
      receivedAt: RECEIVED_AT,
    });
  });

  test("raw amounts with six implied decimals are not read as dollars, and the 24-hour volume is null", () => {
    assert.deepEqual(markets[0]?.activity, {
      volume24hUsd: null,
      volumeTotalUsd: 15340.12,
      liquidityUsd: null,
      openInterestUsd: 4100,
    });
  });

  test("a neg-risk group is a mutually exclusive event that is not marked exhaustive", () => {
    assert.deepEqual(events, [
      {
        venue: "limitless",
        eventId: "f1-champion-2026-1784000000000",
        title: "F1 champion 2026",
        description: "Who wins the title?",
        category: "Sports",
        url: "https://limitless.exchange/markets/f1-champion-2026-1784000000000",
        mutuallyExclusive: true,
        exhaustive: false,
        children: { total: 2, read: 2, leftOut: {} },
        featured: false,
        endAt: 1796601600000,
      },
    ]);
  });

  test("a child whose marketType is 'group' is a market with the group's title and page", () => {
    const listing = markets[1]?.listing;
    assert.equal(listing?.title, "F1 champion 2026 — Driver A");
    assert.equal(listing?.url, "https://limitless.exchange/markets/f1-champion-2026-1784000000000");
    assert.equal(listing?.venueKeys.groupSlug, "f1-champion-2026-1784000000000");
  });

  test("the close time is read from expirationTimestamp, not from the display date", () => {
    assert.equal(markets[0]?.listing.closeAt, 1796187600000);
    assert.equal(markets[0]?.listing.openAt, Date.UTC(2026, 10, 20, 15));
  });

  test("HTML rules are converted to text and entities are decoded", () => {
    assert.equal(
      markets[0]?.listing.rules,
      'Resolves YES if Central Park records at least 0.01 inch of rain & no snow on Dec 1, 2026.\n\nSource: NWS; a tie at <0.01" is NO.',
    );
  });

  test("an order-book market has the fee table", () => {
    const fee = markets[0]?.listing.takerFee;
    assert.ok(fee?.kind === "value_table");
    assert.deepEqual(
      fee.buyPoints.find(([price]) => price === 0.75),
      [0.75, 0.0126],
    );
  });
});

test("an order-book market has steps of 0.001, the delay of its settings and no published minimum", () => {
  const row = fixture("market/locked-before-deadline") as object;
  const rulesOf = (settings: unknown) => {
    const [market] = parse([{ ...row, settings }]).markets;
    const { priceRanges, minOrderContracts, contractStep, takerDelayMs } = market?.listing ?? {};
    return [priceRanges, minOrderContracts, contractStep, takerDelayMs];
  };
  const ranges = [{ from: 0, to: 1, step: 0.001 }];
  // `minSize` is the smallest order that earns rewards.
  assert.deepEqual(rulesOf({ minSize: "100000000", takerDelayMs: 500 }), [ranges, null, null, 500]);
  for (const settings of [undefined, {}, { takerDelayMs: "soon" }, { takerDelayMs: -1 }])
    assert.deepEqual(rulesOf(settings), [ranges, null, null, null]);
});

test("an AMM market has its address as id, no bid or ask, and its probability as indicative price", () => {
  const { market, drops } = parseOne("market/amm");
  assert.equal(market.listing.marketId, "0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566");
  assert.equal(market.listing.venueKeys.kind, "amm");
  assert.deepEqual([market.quote.bid, market.quote.ask, market.quote.indicativePrice], [null, null, 0.215]);
  assert.equal(market.activity.liquidityUsd, 2500);
  assert.deepEqual(market.listing.takerFee, { kind: "flat_value", rate: 0.004 });
  assert.deepEqual(drops, {});
});

test("prices in percent are converted to probabilities", () => {
  assert.equal(parseOne("market/amm-percent-prices").market.quote.indicativePrice, 0.215);
});

for (const [name, status, outcome] of [
  ["market/resolved-yes", "finalized", { kind: "yes" }],
  ["market/resolved-no-without-numerators", "finalized", { kind: "no" }],
  ["market/resolved-equal-numerators", "finalized", { kind: "void", value: 0.5 }],
  ["market/resolved-three-to-seven", "finalized", { kind: "partial", value: 0.3 }],
  ["market/resolved-without-result", "determined", null],
  ["market/locked-before-deadline", "closed", null],
  ["market/funded-after-deadline", "closed", null],
  ["market/flagged-without-fee", "active", null],
  ["market/round-not-started", "pending", null],
] as const) {
  test(`${name} has status ${status} and outcome ${JSON.stringify(outcome)}`, () => {
    const { market } = parseOne(name);
    assert.equal(market.listing.status, status);
    assert.deepEqual(market.listing.outcome, outcome);
  });
}

test("a resolved market has its resolution time and no price", () => {
  const { market } = parseOne("market/resolved-yes");
  assert.equal(market.listing.resolvedAt, Date.UTC(2026, 11, 2, 9, 30));
  assert.equal(yesPrice(market.quote), null);
});

test("metadata.fee = false is parsed as no fee", () => {
  assert.deepEqual(parseOne("market/flagged-without-fee").market.listing.takerFee, { kind: "none" });
});

test("metadata.externalSlug is stored as the slug of the market that this one copies", () => {
  const row = fixture("market/flagged-without-fee") as { metadata: object };
  const { markets } = parse([{ ...row, metadata: { ...row.metadata, externalSlug: "fed-cut-in-december" } }]);
  assert.equal(markets[0]?.listing.venueKeys.mirroredSlug, "fed-cut-in-december");
  assert.equal(parseOne("market/flagged-without-fee").market.listing.venueKeys.mirroredSlug, undefined);
});

test("ignores the placeholder strike of a market that has not started, and does not use a time frame as category", () => {
  const { market } = parseOne("market/round-not-started");
  assert.equal(market.listing.category, "Crypto");
  assert.ok(!JSON.stringify(market).includes("---"));
  assert.equal(yesPrice(market.quote), null);
});

test("a side without orders is null, and an order-book market has no indicative price", () => {
  const { market, drops } = parseOne("market/one-sided");
  assert.deepEqual([market.quote.bid, market.quote.ask, market.quote.indicativePrice], [0.43, null, null]);
  assert.deepEqual(drops, {});
});

test("a market without orders has no quotes and no price, although the venue sends 0.001, 0.999 and 0.5", () => {
  const { quote } = parseOne("market/no-orders-or-trades").market;
  assert.deepEqual([quote.bid, quote.ask, yesPrice(quote)], [null, null, null]);
});

for (const [name, sent, expected, price] of [
  ["narrow quotes have a mid", [0.45, 0.47], [0.45, 0.47], 0.46],
  ["quotes with a spread of exactly 0.10 have a mid", [0.4, 0.5], [0.4, 0.5], 0.45],
  ["wide quotes have no mid", [0.52, 0.95], [0.52, 0.95], null],
  ["quotes beside the placeholders have no mid", [0.002, 0.998], [0.002, 0.998], null],
  ["a bid of 0.001 near the ask is used", [0.001, 0.007], [0.001, 0.007], 0.004],
  ["an ask of 0.999 near the bid is used", [0.987, 0.999], [0.987, 0.999], 0.993],
  ["a bid of 0.001 far from the ask is a placeholder", [0.001, 0.6], [null, 0.6], null],
  ["an ask of 0.999 far from the bid is a placeholder", [0.6, 0.999], [0.6, null], null],
] as const) {
  test(`without trades and with ${sent.join(" / ")}, ${name}`, () => {
    const [bid, ask] = sent;
    const mid = (bid + ask) / 2;
    const { markets } = parse([
      {
        ...(fixture("market/no-orders-or-trades") as object),
        prices: [mid, 1 - mid],
        tradePrices: { buy: { market: [ask, 1 - bid] }, sell: { market: [bid, 1 - ask] } },
      },
    ]);
    const quote = markets[0]?.quote;
    assert.ok(quote !== undefined);
    assert.deepEqual([quote.bid, quote.ask], expected);
    assert.equal(yesPrice(quote), price);
  });
}

test("a round that has not started and has placeholders as quotes is pending", () => {
  const { tradePrices } = fixture("market/no-orders-or-trades") as { tradePrices: unknown };
  const { markets } = parse([{ ...(fixture("market/round-not-started") as object), tradePrices }]);
  assert.equal(markets[0]?.listing.status, "pending");
});

test("drops both sides of a crossed book and counts it", () => {
  const { market, drops } = parseOne("market/crossed");
  assert.deepEqual([market.quote.bid, market.quote.ask], [null, null]);
  assert.deepEqual(drops, { crossed_book: 1 });
});

test("drops and counts invalid prices but keeps the market", () => {
  const { market, drops } = parseOne("market/invalid-prices");
  assert.equal(yesPrice(market.quote), null);
  assert.deepEqual(drops, { price_out_of_range: 2 });
});

test("amounts in a token that is not a dollar are null", () => {
  assert.equal(parseOne("market/other-collateral").market.activity.volumeTotalUsd, null);
});

test("removes scripts, styles and comments from a description and keeps invalid entities as text", () => {
  assert.equal(
    parseOne("market/hostile-html").market.listing.rules,
    "First\n\n2 < 3 &lt;b> 😀\n\none\ntwo\n\nend &unknown; & done",
  );
});

test("drops and counts each invalid row, keeps valid rows and reads an unknown status as closed", () => {
  const { data } = fixture("market/page-with-invalid-rows") as { data: unknown[] };
  const { markets, drops } = parse(data);
  assert.deepEqual(
    markets.map(({ listing }) => [listing.marketId, listing.status]),
    [
      ["rain-nyc-dec-1-1795000000000", "closed"],
      ["rain-nyc-dec-1-1795000000000", "active"],
    ],
  );
  assert.deepEqual(drops, { bad_market_row: 6, market_without_id: 1 });
});

test("arbitrary price fields never produce a price outside (0, 1) or a crossed quote", () => {
  const base = (fixture("market/page-single-and-group") as { data: Record<string, unknown>[] }).data[0];
  const price = fc.oneof(fc.double(), fc.string(), fc.constant(null), fc.integer({ min: -5, max: 200 }));
  const pair = fc.array(price, { maxLength: 3 });
  fc.assert(
    fc.property(pair, pair, pair, fc.boolean(), (prices, buy, sell, isAmm) => {
      const row = { ...base, prices, tradePrices: { buy: { market: buy }, sell: { market: sell } }, address: "0x1" };
      const { markets } = parse([isAmm ? { ...row, tradeType: "amm" } : row]);
      for (const { quote } of markets) {
        for (const value of [quote.bid, quote.ask, quote.indicativePrice, yesPrice(quote)]) {
          assert.ok(value === null || (value > 0 && value < 1));
        }
        if (quote.bid !== null && quote.ask !== null) assert.ok(quote.bid < quote.ask);
      }
    }),
  );
});
