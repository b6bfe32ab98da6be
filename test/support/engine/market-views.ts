import fc from "fast-check";
import type { MarketView } from "../../../src/engine/index.ts";
import { HOUR_MS } from "../../../src/lib/durations.ts";

export const AS_OF = Date.UTC(2026, 5, 1, 12);

/** A market of real money with a tight book and nothing else; `changes` replaces fields. */
export function createView(changes: Partial<MarketView> = {}): MarketView {
  return {
    asOf: AS_OF,
    venue: "venue_a",
    adapter: null,
    marketId: "M",
    title: "Will it happen?",
    category: null,
    kind: "money",
    openAt: AS_OF - 240 * HOUR_MS,
    closeAt: AS_OF + 240 * HOUR_MS,
    deadlineAt: null,
    takerFee: { kind: "none" },
    quote: createQuote(0.4, 0.42),
    prices: [],
    book: null,
    trades: [],
    activity: { at: AS_OF, volume24hUsd: 50_000, liquidityUsd: 20_000 },
    peers: [],
    event: null,
    consensus: null,
    research: null,
    ...changes,
  };
}

export function createQuote(bid: number | null, ask: number | null, at = AS_OF): NonNullable<MarketView["quote"]> {
  return { at, bid, ask, bidSize: 100, askSize: 100, lastPrice: null, indicativePrice: null };
}

const time = fc.integer({ min: AS_OF - 400 * HOUR_MS, max: AS_OF });
const price = fc.double({ min: 0.001, max: 0.999, noNaN: true });
const usd = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null });
const sorted = <Dated extends { readonly at: number }>(dated: readonly Dated[]) =>
  dated.toSorted((a, b) => a.at - b.at);

const quote = fc
  .record({ at: time, low: price, high: price, bidSize: fc.integer({ min: 1, max: 999 }), lastPrice: price })
  .map(({ at, low, high, bidSize, lastPrice }) => ({
    at,
    bid: Math.min(low, high),
    ask: Math.max(low, high) + 1e-6,
    bidSize,
    askSize: 100,
    lastPrice,
    indicativePrice: null,
  }));
const leg = (marketId: string) =>
  fc.record({
    marketId: fc.constant(marketId),
    label: fc.string({ maxLength: 10 }),
    at: time,
    yesPrice: price,
    spread: fc.option(price, { nil: null }),
  });
const event = fc.record({
  isExclusive: fc.boolean(),
  isExhaustive: fc.boolean(),
  legs: fc.tuple(leg("M"), leg("A"), leg("B"), leg("C")).map((legs) => legs),
  ladder: fc.option(fc.constant(["A", "M", "B"]), { nil: null }),
});
const peer = fc.record({
  venue: fc.constantFrom("venue_b", "venue_d"),
  adapter: fc.constant(null),
  marketId: fc.constant("P"),
  isInverse: fc.boolean(),
  matchConfidence: price,
  kind: fc.constantFrom("money" as const, "play_money" as const),
  at: time,
  yesPrice: price,
  spread: fc.option(price, { nil: null }),
  liquidityUsd: usd,
  volume24hUsd: usd,
});

/** Views of all kinds: every part may be missing, and every time is at or before `AS_OF`. */
export const anyView: fc.Arbitrary<MarketView> = fc
  .record({
    kind: fc.constantFrom("money" as const, "play_money" as const, "forecast" as const),
    deadlineAt: fc.option(fc.integer({ min: AS_OF + 1, max: AS_OF + 400 * HOUR_MS }), { nil: null }),
    closeAt: fc.option(fc.integer({ min: AS_OF, max: AS_OF + 400 * HOUR_MS }), { nil: null }),
    quote: fc.option(quote, { nil: null }),
    prices: fc.array(fc.record({ at: time, yesPrice: price }), { minLength: 1, maxLength: 30 }).map(sorted),
    trades: fc
      .array(fc.record({ at: time, yesPrice: price, size: price, takerSide: fc.constantFrom("yes", "no", null) }))
      .map(sorted),
    activity: fc.option(fc.record({ at: time, volume24hUsd: usd, liquidityUsd: usd }), { nil: null }),
    peers: fc.array(peer, { maxLength: 3 }),
    event: fc.option(event, { nil: null }),
    consensus: fc.option(fc.record({ at: time, probability: price, agents: fc.nat(100), trades: fc.nat(1_000) }), {
      nil: null,
    }),
    research: fc.option(
      fc.record({
        at: time,
        probability: price,
        standardError: price,
        trials: fc.nat(5),
        evidence: fc.array(fc.string(), { maxLength: 2 }),
      }),
      { nil: null },
    ),
  })
  .map(createView);
