import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type MarketSnapshot, yesPrice } from "../../domain/market.ts";
import { parseRows } from "./parse-market.ts";
import { detectLimitlessDrift } from "./wire.ts";

const RECEIVED_AT = Date.UTC(2026, 10, 21, 4);

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), "utf8"));
}

function parse(rows: readonly unknown[]) {
  const dropped = new Map<string, number>();
  const drop = (reason: string, count = 1) => dropped.set(reason, (dropped.get(reason) ?? 0) + count);
  const parsed = parseRows(rows, {
    venue: "limitless",
    receivedAt: RECEIVED_AT,
    drop,
    watch: detectLimitlessDrift(() => {}),
  });
  return { ...parsed, dropped: Object.fromEntries(dropped) };
}

function parseOne(name: string): { market: MarketSnapshot; dropped: Record<string, number> } {
  const { markets, dropped } = parse([fixture(name)]);
  const [market] = markets;
  assert.ok(market !== undefined && markets.length === 1);
  return { market, dropped };
}

describe("a page with a single market and a group", () => {
  const page = fixture("active-page-single-and-group") as { data: unknown[] };
  const { markets, events, dropped } = parse(page.data);

  test("the single market stands alone and the children belong to the group's slug", () => {
    assert.deepEqual(
      markets.map(({ listing }) => [listing.marketId, listing.eventId, listing.outcomeLabel]),
      [
        ["rain-nyc-dec-1-1795000000000", null, null],
        ["driver-a-1784000001000", "f1-champion-2026-1784000000000", "Driver A"],
        ["driver-b-1784000002000", "f1-champion-2026-1784000000000", "Driver B"],
      ],
    );
    assert.deepEqual(dropped, {});
  });

  test("bid and ask are what a taker of YES sells and buys at, and no last price is made up", () => {
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

  test("raw amounts with six implied decimals are not taken for dollars, and there is no 24-hour volume", () => {
    assert.deepEqual(markets[0]?.activity, {
      volume24hUsd: null,
      volumeTotalUsd: 15340.12,
      liquidityUsd: null,
      openInterestUsd: 4100,
    });
  });

  test("a neg-risk group is a mutually exclusive event that promises no exhaustiveness", () => {
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
        featured: false,
        endAt: 1796601600000,
      },
    ]);
  });

  test("a child that calls itself a group is still a market, titled by its group and linked to its page", () => {
    const listing = markets[1]?.listing;
    assert.equal(listing?.title, "F1 champion 2026 — Driver A");
    assert.equal(listing?.url, "https://limitless.exchange/markets/f1-champion-2026-1784000000000");
    assert.equal(listing?.venueKeys.groupSlug, "f1-champion-2026-1784000000000");
  });

  test("the deadline is read from the timestamp, not from the display date", () => {
    assert.equal(markets[0]?.listing.closeAt, 1796187600000);
    assert.equal(markets[0]?.listing.openAt, Date.UTC(2026, 10, 20, 15));
  });

  test("HTML rules become text with entities decoded", () => {
    assert.equal(
      markets[0]?.listing.rules,
      'Resolves YES if Central Park records at least 0.01 inch of rain & no snow on Dec 1, 2026.\n\nSource: NWS; a tie at <0.01" is NO.',
    );
  });

  test("an order-book market pays by the table of buy shares", () => {
    const fee = markets[0]?.listing.takerFee;
    assert.ok(fee?.kind === "value_table");
    assert.deepEqual(
      fee.buyPoints.find(([price]) => price === 0.75),
      [0.75, 0.0126],
    );
  });
});

test("an AMM market is keyed by its address, has no book and shows its probability", () => {
  const { market, dropped } = parseOne("market-amm");
  assert.equal(market.listing.marketId, "0x9aB4F0c2D31e6e0a1B5C7D8E9f00112233445566");
  assert.equal(market.listing.venueKeys.kind, "amm");
  assert.deepEqual([market.quote.bid, market.quote.ask, market.quote.indicativePrice], [null, null, 0.215]);
  assert.equal(market.activity.liquidityUsd, 2500);
  assert.deepEqual(market.listing.takerFee, { kind: "flat_value", rate: 0.004 });
  assert.deepEqual(dropped, {});
});

test("prices written in percent are read as probabilities", () => {
  assert.equal(parseOne("market-amm-percent-prices").market.quote.indicativePrice, 0.215);
});

for (const [name, status, outcome] of [
  ["market-resolved-yes", "finalized", { kind: "yes" }],
  ["market-resolved-no-without-numerators", "finalized", { kind: "no" }],
  ["market-resolved-equal-numerators", "finalized", { kind: "void", value: 0.5 }],
  ["market-resolved-three-to-seven", "finalized", { kind: "partial", value: 0.3 }],
  ["market-resolved-result-not-told", "determined", null],
  ["market-locked-before-deadline", "closed", null],
  ["market-funded-after-deadline", "closed", null],
  ["market-flagged-free-of-fees", "active", null],
  ["market-round-not-begun", "pending", null],
] as const) {
  test(`${name} is ${status} with outcome ${JSON.stringify(outcome)}`, () => {
    const { market } = parseOne(name);
    assert.equal(market.listing.status, status);
    assert.deepEqual(market.listing.outcome, outcome);
  });
}

test("a resolved market tells when, and has no tradable price left", () => {
  const { market } = parseOne("market-resolved-yes");
  assert.equal(market.listing.resolvedAt, Date.UTC(2026, 11, 2, 9, 30));
  assert.equal(yesPrice(market.quote), null);
});

test("metadata.fee = false means no fee", () => {
  assert.deepEqual(parseOne("market-flagged-free-of-fees").market.listing.takerFee, { kind: "none" });
});

test("the placeholder strike of a round that has not begun is no number anywhere, and its time frame no category", () => {
  const { market } = parseOne("market-round-not-begun");
  assert.equal(market.listing.category, "Crypto");
  assert.ok(!JSON.stringify(market).includes("---"));
  assert.equal(yesPrice(market.quote), null);
});

test("a side nobody quotes is null, and the venue's own price stands in for the mid", () => {
  const { market, dropped } = parseOne("market-one-sided");
  assert.deepEqual([market.quote.bid, market.quote.ask, market.quote.indicativePrice], [0.43, null, 0.43]);
  assert.deepEqual(dropped, {});
});

test("the 0.5 of a market that nobody quoted or traded is a placeholder and not shown", () => {
  assert.equal(yesPrice(parseOne("market-never-touched").market.quote), null);
});

test("a crossed book loses both sides and is counted", () => {
  const { market, dropped } = parseOne("market-crossed");
  assert.deepEqual([market.quote.bid, market.quote.ask], [null, null]);
  assert.deepEqual(dropped, { crossed_book: 1 });
});

test("prices that are none are dropped and counted, the market stays", () => {
  const { market, dropped } = parseOne("market-price-garbage");
  assert.equal(yesPrice(market.quote), null);
  assert.deepEqual(dropped, { price_out_of_range: 3 });
});

test("amounts in another token than a dollar are unknown in USD", () => {
  assert.equal(parseOne("market-other-collateral").market.activity.volumeTotalUsd, null);
});

test("scripts, styles, comments and broken entities of a description leave only its text", () => {
  assert.equal(
    parseOne("market-hostile-html").market.listing.rules,
    "First\n\n2 < 3 &lt;b> 😀\n\none\ntwo\n\nend &unknown; & done",
  );
});

test("garbage rows are dropped and counted one by one, the good row stays, a status nobody knows is closed", () => {
  const { data } = fixture("active-page-with-garbage-rows") as { data: unknown[] };
  const { markets, dropped } = parse(data);
  assert.deepEqual(
    markets.map(({ listing }) => [listing.marketId, listing.status]),
    [
      ["rain-nyc-dec-1-1795000000000", "closed"],
      ["rain-nyc-dec-1-1795000000000", "active"],
    ],
  );
  assert.deepEqual(dropped, { bad_market_row: 6, market_without_id: 1 });
});

test("whatever stands in the price fields, no price leaves (0, 1) and nothing is NaN", () => {
  const base = (fixture("active-page-single-and-group") as { data: Record<string, unknown>[] }).data[0];
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
