/**
 * Runs the shadow book over 40 simulated days, with the real engine, signals, store and jobs. The engine recommends few
 * trades in the simulated world. For more trades, the test adds estimates that differ from the engine's by 0.5 in
 * log-odds. The test checks the bookkeeping, not the profit.
 */
import assert from "node:assert/strict";
import { viewOpenMarkets } from "../../research/sandbox/world-views.ts";
import { priceAt } from "../../sandbox/world/candles.ts";
import { createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket, SandboxVenue, SimulatedWorld } from "../../sandbox/world/types.ts";
import type { MarketListing, Outcome, TakerFee } from "../../src/domain/market.ts";
import { analyse, ENGINE_COEFFICIENTS, type MarketView, toLogOdds, toProbability } from "../../src/engine/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { sumOf } from "../../src/lib/numbers.ts";
import { decideSignal, REFERENCE_BANKROLL_USD, type ShadowEntry, utcDate } from "../../src/trading/index.ts";
import { onEmbedded } from "../support/databases.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { SAMPLE_AT, sampleMarket } from "../support/markets/market-samples.ts";
import { openShadowBook } from "../support/trading/shadow-book-harness.ts";

const DAYS = 40;
const STEPS_PER_DAY = 2;
const MARKETS_PER_VENUE = 14;
/** The job does not run on these days, as in an outage. */
const OUTAGE = { from: 30, to: 34 };
const FEES: Readonly<Record<SandboxVenue, TakerFee>> = {
  kalshi: { kind: "quadratic", rate: 0.07, exponent: 1, rounding: { feeStep: 0.0001, balanceStep: 0.01 } },
  polymarket: { kind: "none" },
  limitless: { kind: "flat_value", rate: 0.01 },
  manifold: { kind: "none" },
};
const OPINION = 0.5;
const SIZING = { bankrollUsd: REFERENCE_BANKROLL_USD, kellyShare: 0.25, positionMax: 0.1 };

/** The fields of a trade that the test needs to settle it independently. */
interface Fill {
  readonly market: ListedMarket;
  readonly side: "yes" | "no";
  readonly contracts: number;
  readonly costUsd: number;
  readonly isOpinion: boolean;
}

/** A world that lists only some markets of each venue: those that close first, but not within six hours. */
function selectMarkets(world: SimulatedWorld, at: number): SimulatedWorld {
  const chosen = new Map(
    (["kalshi", "polymarket", "limitless", "manifold"] as const).map((venue) => [
      venue,
      world
        .markets(venue, at)
        .filter((market) => world.lifecycle(market, at).phase === "active" && market.closeAt > at + 6 * HOUR_MS)
        .sort((a, b) => a.closeAt - b.closeAt || a.index - b.index)
        .slice(0, MARKETS_PER_VENUE),
    ]),
  );
  const all = new Set([...chosen.values()].flat());
  return {
    ...world,
    markets: (venue) => chosen.get(venue) ?? [],
    pairs: (time) => world.pairs(time).filter(({ a, b }) => all.has(a) && all.has(b)),
  };
}

function decide(world: SimulatedWorld, market: ListedMarket, view: MarketView, opinion: number) {
  const takerFee = FEES[market.venue];
  const { bids, asks } = world.book(market, view.asOf);
  const engine = analyse({ ...view, takerFee }, ENGINE_COEFFICIENTS);
  if (engine === null) return null;
  const analysis =
    opinion === 0
      ? engine
      : { ...engine, probability: toProbability(toLogOdds(engine.probability) + opinion), standardError: 0.1 };
  const signal = decideSignal(
    {
      now: view.asOf,
      analysis,
      market: {
        kind: "money",
        isOpen: true,
        closeAt: market.closeAt,
        resolutionAt: market.finalizeAt,
        priceRanges: market.bands,
        takerFee,
        minOrderContracts: null,
        contractStep: null,
      },
      yesPrice: analysis.marketPrice,
      book: { at: view.asOf, bids, asks },
    },
    SIZING,
  );
  return { analysis, signal };
}

function toEntry(
  market: ListedMarket,
  at: number,
  decision: ReturnType<typeof decide>,
  opinion: number,
): ShadowEntry | null {
  const fill = decision?.signal.fill ?? null;
  if (decision === null || fill === null) return null;
  const { analysis, signal } = decision;
  return {
    analysisId: `plx-${market.index}-${at}-${opinion}`,
    venue: market.venue,
    marketId: `${market.index}`,
    title: market.question,
    category: null,
    side: signal.recommendation === "BUY_YES" ? "yes" : "no",
    contracts: fill.contracts,
    price: fill.averagePrice,
    feeUsd: fill.feeUsd,
    probability: analysis.probability,
    marketPrice: analysis.marketPrice,
    edge: signal.executableEdge ?? 0,
    sizePct: signal.sizePct,
    at,
    isRequested: false,
  };
}

/** The result as venues report it. A void market refunds or is settled partially. */
function outcomeOf(world: SimulatedWorld, market: ListedMarket, at: number): Outcome | null {
  const { phase, outcome } = world.lifecycle(market, at);
  if (phase !== "finalized" || outcome === null) return null;
  if (outcome.kind !== "void") return outcome;
  return market.index % 5 < 2 ? { kind: "partial", value: 0.25 } : { kind: "void", value: null };
}

const payYes = (outcome: Outcome): number | null => {
  if (outcome.kind === "yes") return 1;
  return outcome.kind === "no" ? 0 : outcome.value;
};

onEmbedded("over 40 days the stored book, the recomputed book and the world's own settlement agree", async (db) => {
  const world = createWorld({ seed: 7, genesis: SAMPLE_AT, speed: 1, marketCount: 60 });
  const clock = new FakeClock(SAMPLE_AT);
  const { book, openBook, list, days, performance } = openShadowBook(db, clock);
  const otherNode = openBook();
  const listed = new Map<number, ListedMarket>();
  const settled = new Map<number, Outcome>();
  const midnightPrices = new Map<number, number>();
  const fills: Fill[] = [];
  let signals = 0;

  const listing = (market: ListedMarket, parts: Partial<MarketListing> = {}) =>
    sampleMarket(`${market.index}`, {
      listing: { venue: market.venue, title: market.question, closeAt: market.closeAt, ...parts },
      quote: { receivedAt: clock.now() },
    });
  const settleMarkets = async () => {
    const due = [...listed.values()].flatMap((market) => {
      const outcome = settled.has(market.index) ? null : outcomeOf(world, market, clock.now());
      if (outcome === null) return [];
      settled.set(market.index, outcome);
      return [listing(market, { status: "finalized", outcome, resolvedAt: market.finalizeAt })];
    });
    await list(due);
  };
  const storePrices = async (midnight: number) => {
    const traded = [...new Set(fills.map(({ market }) => market))].filter(({ index }) => !settled.has(index));
    const prices = traded.flatMap((market) => {
      const price = priceAt(world, market, midnight);
      return price === null ? [] : [{ id: `${market.index}`, index: market.index, price }];
    });
    for (const { index, price } of prices) midnightPrices.set(index, price);
    await db.query(
      `insert into bars_1h (market_key, start_at, yes_close, source)
       select key, to_timestamp($1::float8 / 1000), round(price * 1000000)::int4, 'ticks'
       from unnest($2::text[], $3::float8[]) as bar (market_id, price) join markets using (market_id)`,
      [midnight - HOUR_MS, prices.map(({ id }) => id), prices.map(({ price }) => price)],
    );
  };
  const giveSignals = async () => {
    const at = clock.now();
    const chosen = selectMarkets(world, at);
    const cases = viewOpenMarkets(chosen, at);
    const unseen = cases.map(({ market }) => market).filter(({ index }) => !listed.has(index));
    for (const market of unseen) listed.set(market.index, market);
    await list(unseen.map((market) => listing(market)));
    for (const { market, view } of cases) {
      const opinions = (market.index + at / HOUR_MS) % 3 < 1 ? [0, market.index % 2 === 0 ? OPINION : -OPINION] : [0];
      for (const opinion of opinions) {
        signals += 1;
        await enter(market, toEntry(market, at, decide(world, market, view, opinion), opinion), opinion !== 0);
      }
    }
  };
  const enter = async (market: ListedMarket, entry: ShadowEntry | null, isOpinion: boolean) => {
    if (entry === null) return;
    const { side, contracts, price, feeUsd } = entry;
    const isEntered = await Promise.all([book.enter(entry), otherNode.enter(entry)]);
    assert.deepEqual(isEntered.toSorted(), [false, true]);
    fills.push({ market, side, contracts, costUsd: contracts * price + feeUsd, isOpinion });
  };

  for (let step = 0; step < DAYS * STEPS_PER_DAY; step++) {
    const day = Math.floor(step / STEPS_PER_DAY);
    await clock.advance(SAMPLE_AT + (step * DAY_MS) / STEPS_PER_DAY + HOUR_MS - clock.now());
    if (step % STEPS_PER_DAY === 0 && day > 0) await storePrices(SAMPLE_AT + day * DAY_MS);
    await settleMarkets();
    if (day < OUTAGE.from || day >= OUTAGE.to) await Promise.all([book.run(), otherNode.run()]);
    await giveSignals();
  }
  await clock.advance(SAMPLE_AT + DAYS * DAY_MS + HOUR_MS - clock.now());
  await storePrices(SAMPLE_AT + DAYS * DAY_MS);
  await book.run();

  const verification = await book.verify();
  assert.deepEqual(verification.mismatches, []);
  assert.deepEqual([verification.trades, verification.days], [fills.length, DAYS]);

  // The test settles the trades from nothing but the fills and the outcomes of the simulated world.
  const resolved = fills.filter(({ market }) => settled.has(market.index));
  const profitOf = ({ market, side, contracts, costUsd }: Fill): number => {
    const outcome = settled.get(market.index);
    const yes = outcome === undefined ? midnightPrices.get(market.index) : payYes(outcome);
    if (yes === null) return 0;
    if (yes === undefined) throw new Error("a trade has no price");
    return contracts * (side === "yes" ? yes : 1 - yes) - costUsd;
  };
  const resolvedPnl = sumOf(resolved.map(profitOf));
  const totalPnl = sumOf(fills.map(profitOf));
  const stored = await days();
  assert.ok(Math.abs(sumOf(stored.map(({ pnl }) => pnl)) - totalPnl) < 0.005);
  assert.equal(stored.at(-1)?.day, utcDate(SAMPLE_AT + (DAYS - 1) * DAY_MS));
  const { report } = await performance.refresh();
  const { winRate, roiPct, totalPnlUsd, resolvedTrades, totalTrades } = report.performance;
  assert.deepEqual([totalTrades, resolvedTrades], [fills.length, resolved.length]);
  assert.ok(Math.abs(totalPnlUsd - totalPnl) < 0.005);
  assert.ok(Math.abs((roiPct ?? 0) - (100 * resolvedPnl) / sumOf(resolved.map(({ costUsd }) => costUsd))) < 1e-6);
  const won = resolved.filter((fill) => profitOf(fill) > 5e-7).length;
  assert.equal(winRate, won / resolved.length);

  const kinds = new Map<string, number>();
  for (const { market } of resolved) {
    const outcome = settled.get(market.index);
    const kind = `${outcome?.kind}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  const engine = fills.filter(({ isOpinion }) => !isOpinion);
  process.stdout.write(
    `# engine: ${engine.length} trades, P&L ${sumOf(engine.map(profitOf)).toFixed(2)} USD; with opinions: ${signals} signals over ${DAYS} days: ${fills.length} trades in ${new Set(fills.map(({ market }) => market)).size} markets, ${resolved.length} resolved (${[...kinds].map(([kind, count]) => `${count} ${kind}`).join(", ")}); P&L ${totalPnl.toFixed(2)} USD, of resolved trades ${resolvedPnl.toFixed(2)} USD, ROI ${roiPct?.toFixed(1)}%, win rate ${winRate?.toFixed(3)}, Sharpe ${report.performance.sharpeRatio?.toFixed(2)}, drawdown ${report.performance.maxDrawdownUsd.toFixed(2)} USD\n`,
  );
  for (const kind of ["yes", "no", "partial", "void"]) assert.ok((kinds.get(kind) ?? 0) > 0, kind);
  assert.ok(resolved.length < fills.length, "some trades are open at the end");
});
