/** The simulated world behind the four sandbox venues; `types.ts` documents its interface. */
import { activityClock } from "./activity-clock.ts";
import { lifecycleAt, nextPhaseAt, pauseOf } from "./lifecycle.ts";
import { MarketSimulator } from "./market-simulator.ts";
import type { BookState, Lifecycle, ListedMarket, SimulatedWorld } from "./types.ts";
import { Universe, type UniverseOptions } from "./universe.ts";

export { createFeed } from "./feed.ts";

const DAY_MS = 86_400_000;
const HISTORY_POINTS_MAX = 50_000;
/** Enough for the markets followed by streams; a sweep over all markets evicts older simulators. */
const CACHED_SIMULATORS_MAX = 2_048;

export interface WorldOptions extends UniverseOptions {
  /** Trading activity is this many times faster after genesis. */
  readonly speed: number;
}

/** Creates a deterministic world: the same options produce the same books, trades and outcomes at any time. */
export function createWorld(options: WorldOptions): SimulatedWorld {
  const { seed, genesis, speed } = options;
  const universe = new Universe(options);
  const clock = activityClock(genesis, speed);
  const simulators = new Map<ListedMarket, MarketSimulator>();

  const simulatorOf = (market: ListedMarket): MarketSimulator => {
    let simulator = simulators.get(market);
    if (simulator === undefined) {
      const simulation = { seed, clock, pause: pauseOf(market, seed) };
      simulator = new MarketSimulator(market, universe.groundTruth(market), simulation);
      simulators.set(market, simulator);
      const oldest = simulators.keys().next();
      if (simulators.size > CACHED_SIMULATORS_MAX && oldest.done !== true) simulators.delete(oldest.value);
    }
    return simulator;
  };

  const lifecycle = (market: ListedMarket, at: number): Lifecycle =>
    lifecycleAt(market, at, seed, universe.groundTruth(market));

  const book = (market: ListedMarket, at: number): BookState => {
    const { tradingEndsAt } = universe.groundTruth(market);
    const state = simulatorOf(market).book(Math.max(market.openAt, Math.min(at, tradingEndsAt - 1)));
    const { phase, since } = lifecycle(market, at);
    if (phase === "active") return { ...state, changedAt: Math.max(state.changedAt, since) };
    return {
      bids: [],
      asks: [],
      lastPrice: at < market.openAt ? null : state.lastPrice,
      changedAt: Math.max(since, market.openAt),
      version: state.version + 1,
    };
  };

  const activity: SimulatedWorld["activity"] = (market, at) => {
    const simulator = simulatorOf(market);
    const total = simulator.volume(at);
    const dayAgo = simulator.volume(at - DAY_MS);
    const { bids, asks } = book(market, at);
    const resting =
      bids.reduce((sum, { price, size }) => sum + price * size, 0) +
      asks.reduce((sum, { price, size }) => sum + (1 - price) * size, 0);
    return {
      volumeContracts: total.contracts,
      volumeUsd: total.dollars,
      volume24hContracts: round2(total.contracts - dayAgo.contracts),
      volume24hUsd: round2(total.dollars - dayAgo.dollars),
      openInterestContracts: Math.round(total.contracts * 0.35),
      liquidityUsd: round2(resting),
      traderCount: Math.ceil(Math.sqrt(total.contracts)),
    };
  };

  const priceHistory: SimulatedWorld["priceHistory"] = (market, from, to, intervalMs) => {
    const points: ReturnType<SimulatedWorld["priceHistory"]>[number][] = [];
    const { tradingEndsAt } = universe.groundTruth(market);
    const simulator = simulatorOf(market);
    const first = Math.floor(Math.max(from, market.openAt) / intervalMs) + 1;
    const last = Math.min(Math.floor(Math.min(to, tradingEndsAt) / intervalMs), first + HISTORY_POINTS_MAX);
    let before = simulator.volume((first - 1) * intervalMs);
    for (let number = first; number <= last; number++) {
      const at = number * intervalMs;
      const state = book(market, Math.min(at, tradingEndsAt - 1));
      const after = simulator.volume(at);
      points.push({
        at,
        bid: state.bids[0]?.price ?? null,
        ask: state.asks[0]?.price ?? null,
        lastPrice: state.lastPrice,
        volumeContracts: round2(after.contracts - before.contracts),
        volumeUsd: round2(after.dollars - before.dollars),
      });
      before = after;
    }
    return points;
  };

  return {
    seed,
    genesis,
    speed,
    events: (venue, at) => universe.listing(venue, at).events,
    markets: (venue, at) => universe.listing(venue, at).markets,
    lifecycle,
    book,
    probability: (market, at) =>
      simulatorOf(market).probability(
        Math.max(market.openAt, Math.min(at, universe.groundTruth(market).tradingEndsAt - 1)),
      ),
    activity,
    trades: (market, from, to) => simulatorOf(market).trades(from, to),
    priceHistory,
    nextPhaseAt: (market, after) => nextPhaseAt(market, after, seed, universe.groundTruth(market)),
    nextChangeAt(market, after) {
      const { tradingEndsAt } = universe.groundTruth(market);
      const pause = pauseOf(market, seed);
      const edges = pause === null ? [] : [pause.from, pause.to];
      return Math.min(
        simulatorOf(market).nextChangeAt(after),
        ...edges.filter((edge) => edge > after && edge < tradingEndsAt),
      );
    },
  };
}

function round2(amount: number): number {
  return Math.round(amount * 100) / 100;
}
