import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openArbitrageApi, sampleBook, samplePair } from "../../../../test/support/markets/arbitrage-api.ts";
import { sampleChildren, sampleEvent } from "../../../../test/support/markets/market-samples.ts";
import type { TakerFee } from "../../../domain/market.ts";
import { sumOf } from "../../../lib/numbers.ts";

/** Amounts in USD are rounded to 1e-6, and an opportunity adds several. */
const TOLERANCE = 3e-6;
const TABLE: TakerFee = {
  kind: "value_table",
  buyPoints: [
    [0.5, 0.03],
    [0.7, 0.0151],
    [0.999, 0.004],
  ],
  sellPoints: [
    [0.01, 0.0042],
    [0.5, 0.015],
    [0.9, 0.0078],
  ],
};
const FEES: readonly TakerFee[] = [
  { kind: "none" },
  { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
  { kind: "quadratic", rate: 0.05, exponent: 1 },
  { kind: "flat_value", rate: 0.004 },
  TABLE,
];

const size = fc.integer({ min: 1, max: 100_000 }).map((cents) => cents / 100);
const side = fc.array(fc.tuple(fc.integer({ min: 1, max: 99 }), size), { maxLength: 6 });
/** Books of any kind, including empty, one-sided and crossed books. */
const book = fc.tuple(side, side).map(([bids, asks]) =>
  sampleBook(
    bids.map(([cents, contracts]) => [cents / 100, contracts] as const).sort((a, b) => b[0] - a[0]),
    asks.map(([cents, contracts]) => [cents / 100, contracts] as const).sort((a, b) => a[0] - b[0]),
  ),
);
const market = fc.record({
  fee: fc.constantFrom(...FEES),
  book,
  bid: fc.option(fc.integer({ min: 1, max: 49 }), { nil: null }),
  ask: fc.option(fc.integer({ min: 50, max: 99 }), { nil: null }),
  bidSize: fc.option(size, { nil: null }),
  askSize: fc.option(size, { nil: null }),
});
const scenario = fc.array(
  fc.record({ alpha: market, beta: market, relation: fc.constantFrom("identical" as const, "inverse" as const) }),
  { minLength: 1, maxLength: 4 },
);

interface Level {
  readonly price: number;
  readonly size: number | null;
  readonly contracts: number;
}
interface Leg {
  readonly platform: string;
  readonly market_id: string;
  readonly side: "yes" | "no";
  readonly book: string;
  readonly taker_fee: {
    kind: string;
    rate?: number;
    exponent?: number;
    rounds_up_to?: number;
    fee_rounds_up_to?: number;
    points?: [number, number][];
  };
  readonly contracts: number | null;
  readonly average_price: number | null;
  readonly cost_usd: number | null;
  readonly fee_usd: number | null;
  readonly levels: readonly Level[];
}

/** Fee per contract, written independently of the service from the description of the fields. */
function feeAt({ kind, rate = 0, exponent = 0, points = [] }: Leg["taker_fee"], price: number): number {
  if (kind === "quadratic") return rate * (price * (1 - price)) ** exponent;
  if (kind === "flat_value") return rate * price;
  if (kind === "none") return 0;
  const below = points.filter(([at]) => at <= price).at(-1);
  const above = points.find(([at]) => at >= price);
  const [low, high] = [below ?? above, above ?? below];
  if (low === undefined || high === undefined) throw new Error("The table is empty");
  const share = low[0] === high[0] ? low[1] : low[1] + ((high[1] - low[1]) * (price - low[0])) / (high[0] - low[0]);
  return (price * share) / (1 - share);
}

function assertClose(actual: number, expected: number, label: string): void {
  assert.ok(
    Math.abs(actual - expected) <= TOLERANCE * Math.max(1, Math.abs(expected)),
    `${label}: ${actual}, not ${expected}`,
  );
}

/** Recomputes an opportunity from its own legs, as a client would. */
function assertAddsUp(opportunity: Record<string, number> & { readonly legs: readonly Leg[] }): void {
  const { legs } = opportunity;
  const best = legs.map(({ levels, taker_fee }) => {
    const price = levels[0]?.price ?? Number.NaN;
    return price + feeAt(taker_fee, price);
  });
  const payout = opportunity.payout ?? 1;
  assertClose(opportunity.net_spread ?? Number.NaN, payout - sumOf(best), "net_spread");
  const contracts = legs[0]?.contracts ?? null;
  for (const leg of legs) {
    assert.equal(leg.contracts, contracts, "every leg buys the same number");
    if (contracts === null) {
      assert.deepEqual([leg.cost_usd, leg.fee_usd, leg.average_price], [null, null, null]);
      continue;
    }
    const { levels, taker_fee: fee } = leg;
    assertClose(sumOf(levels.map((level) => level.contracts)), contracts, "contracts");
    assertClose(sumOf(levels.map((level) => level.contracts * level.price)), leg.cost_usd ?? Number.NaN, "cost");
    const exactFee = sumOf(levels.map((level) => level.contracts * feeAt(fee, level.price)));
    const step = fee.rounds_up_to;
    if (step === undefined) assertClose(leg.fee_usd ?? Number.NaN, exactFee, "fee");
    else {
      const rounded = leg.fee_usd ?? Number.NaN;
      const feeSteps = levels.length * (fee.fee_rounds_up_to ?? 0);
      assert.ok(rounded >= exactFee - 1e-7 && rounded < exactFee + feeSteps + step, `fee ${rounded} for ${exactFee}`);
      const balance = ((leg.cost_usd ?? Number.NaN) + rounded) / step;
      assert.ok(Math.abs(balance - Math.round(balance)) < 1e-5, `a balance of ${balance} steps`);
    }
    if (contracts > 0)
      assertClose((leg.average_price ?? Number.NaN) * contracts, leg.cost_usd ?? Number.NaN, "average");
    for (const [index, level] of levels.entries()) {
      assert.ok(level.contracts <= (level.size ?? 0) + TOLERANCE, "no more contracts than are offered");
      // A level is bought completely before the next level is used.
      if ((levels[index + 1]?.contracts ?? 0) > 0) assertClose(level.contracts, level.size ?? Number.NaN, "used up");
      if (index > 0) assert.ok(level.price >= (levels[index - 1]?.price ?? 0), "best first");
    }
  }
  if (contracts === null) {
    assert.deepEqual([opportunity.executable_size_usd, opportunity.executable_profit_usd], [null, null]);
    return;
  }
  const capital = sumOf(legs.map(({ cost_usd, fee_usd }) => (cost_usd ?? 0) + (fee_usd ?? 0)));
  assertClose(opportunity.executable_size_usd ?? Number.NaN, capital, "capital");
  assertClose(opportunity.executable_profit_usd ?? Number.NaN, payout * contracts - capital, "profit");
  assert.ok((opportunity.executable_profit_usd ?? -1) >= 0);
  if ((opportunity.net_spread ?? 0) <= 0) assert.deepEqual([contracts, opportunity.score], [0, 0]);
}

test("the figures of every reported pair equal those recomputed from its legs, and its legs match the venues' books", async () => {
  let countWithProfit = 0;
  let countLive = 0;
  await fc.assert(
    fc.asyncProperty(scenario, async (pairs) => {
      const { venues, setMarket, pairs: matched, get } = await openArbitrageApi();
      for (const [index, { alpha, beta, relation }] of pairs.entries()) {
        const id = `m${index}`;
        for (const [venue, { fee, book: levels, bid, ask, bidSize, askSize }] of Object.entries({ alpha, beta })) {
          setMarket(venue, id, {
            listing: { takerFee: fee },
            quote: {
              bidSize,
              askSize,
              lastPrice: 0.5,
              bid: bid === null ? null : bid / 100,
              ask: ask === null ? null : ask / 100,
            },
          });
          venues[venue as "alpha" | "beta"].books.set(id, levels);
        }
        matched.set(samplePair(id, { relation }));
      }
      for (const url of ["/v1/arbitrage", "/v1/arbitrage/live"]) {
        for (const opportunity of (await get(`${url}?min_spread=0&expand=scoring`)).json().opportunities) {
          assertAddsUp(opportunity);
          if (opportunity.executable_profit_usd > 0) countWithProfit += 1;
          for (const leg of opportunity.legs as readonly Leg[]) {
            if (leg.book !== "order_book") continue;
            countLive += 1;
            const { bids, asks } =
              venues[leg.platform as "alpha" | "beta"].books.get(leg.market_id) ?? sampleBook([], []);
            const offers =
              leg.side === "yes"
                ? asks
                : bids.map((level) => ({ ...level, price: Math.round((1 - level.price) * 1e6) / 1e6 }));
            for (const [index, { price, size: offered }] of leg.levels.entries())
              assert.deepEqual({ price, size: offered }, offers[index]);
            assert.ok((bids[0]?.price ?? 0) < (asks[0]?.price ?? 1), "a crossed book is not a leg");
          }
        }
      }
    }),
    { numRuns: 60, seed: 7 },
  );
  assert.ok(countWithProfit > 0 && countLive > 0, `${countWithProfit} with a profit, ${countLive} live legs`);
});

test("the figures of every reported set and ladder equal those recomputed from its legs", async () => {
  const price = fc.integer({ min: 1, max: 60 });
  const outcome = fc.record({ bid: price, width: fc.integer({ min: 1, max: 5 }), size, fee: fc.constantFrom(...FEES) });
  const event = fc.record({
    outcomes: fc.array(outcome, { minLength: 2, maxLength: 5 }),
    isExclusive: fc.boolean(),
    isExhaustive: fc.boolean(),
  });
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 4 }), async (events) => {
      const { board, setMarket, get } = await openArbitrageApi();
      for (const [index, { outcomes, isExclusive, isExhaustive }] of events.entries()) {
        const eventId = `e${index}`;
        const flags = { mutuallyExclusive: isExclusive, exhaustive: isExclusive && isExhaustive };
        board.applyEvent(sampleEvent(eventId, { venue: "alpha", children: sampleChildren(outcomes.length), ...flags }));
        for (const [rung, { bid, width, size: askSize, fee }] of outcomes.entries())
          setMarket("alpha", `${eventId}-${rung}`, {
            listing: { eventId, title: `Above ${rung}`, takerFee: fee },
            quote: { bid: bid / 100, ask: (bid + width) / 100, askSize, bidSize: 50 },
          });
      }
      for (const kind of ["exclusive_set", "ladder"]) {
        const url = `/v1/arbitrage?kind=${kind}&min_spread=0&expand=scoring`;
        for (const opportunity of (await get(url)).json().opportunities) {
          assertAddsUp(opportunity);
          const best = sumOf(opportunity.legs.map(({ levels }: Leg) => levels[0]?.price ?? Number.NaN));
          assertClose(opportunity.spread, opportunity.payout - best, "spread");
          counts.set(opportunity.strategy, (counts.get(opportunity.strategy) ?? 0) + 1);
        }
      }
    }),
    { numRuns: 60, seed: 7 },
  );
  assert.deepEqual([...counts.keys()].sort(), ["buy_all_no", "buy_all_yes", "buy_wide_yes_narrow_no"]);
});
