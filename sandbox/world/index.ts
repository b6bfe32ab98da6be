/** The simulated world that the four sandbox venues publish; `types.ts` documents its interface. */
import { deleteOldest } from "../../src/lib/delete-oldest.ts";
import { DAY_MS } from "../../src/lib/durations.ts";
import { roundTo } from "../../src/lib/numbers.ts";
import { createActivityClock } from "./activity-clock.ts";
import { lifecycleAt, nextPhaseAt, pauseOf } from "./lifecycle.ts";
import { groundTruthOf } from "./list-event.ts";
import { listPairs } from "./market-pairs.ts";
import { MarketSimulator } from "./market-simulator.ts";
import {
  type BookState,
  type Lifecycle,
  type ListedMarket,
  type MarketPair,
  SANDBOX_VENUES,
  type SimulatedWorld,
} from "./types.ts";
import { type Listing, Universe, type UniverseOptions } from "./universe.ts";

export { createFeed } from "./feed.ts";

const HISTORY_POINTS_MAX = 50_000;
/** Maximum number of cached simulators, enough for all followed markets. The oldest simulator is evicted first. */
const CACHED_SIMULATORS_MAX = 2_048;

export interface WorldOptions extends UniverseOptions {
  /** Trading activity after genesis is faster by this factor. */
  readonly speed: number;
  /** True if the quotes of an event may contradict each other for a short time (`DISPLACED_SHARE`). True by default. */
  readonly hasDisplacedQuotes?: boolean;
}

/** Creates a deterministic world: the same options produce the same books, trades and outcomes at any time. */
export function createWorld(options: WorldOptions): SimulatedWorld {
  const { seed, genesis, speed, hasDisplacedQuotes = true } = options;
  const universe = new Universe(options);
  const clock = createActivityClock(genesis, speed);
  const simulators = new Map<ListedMarket, MarketSimulator>();

  const simulatorOf = (market: ListedMarket): MarketSimulator => {
    let simulator = simulators.get(market);
    if (simulator === undefined) {
      const simulation = { seed, clock, hasDisplacedQuotes, pause: pauseOf(market, seed) };
      simulator = new MarketSimulator(market, groundTruthOf(market), simulation);
      simulators.set(market, simulator);
      deleteOldest(simulators, CACHED_SIMULATORS_MAX);
    }
    return simulator;
  };

  const lifecycle = (market: ListedMarket, at: number): Lifecycle =>
    lifecycleAt(market, at, seed, groundTruthOf(market));

  const book = (market: ListedMarket, at: number): BookState => {
    const { tradingEndsAt } = groundTruthOf(market);
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
    const totalVolume = simulator.volume(at);
    const volumeDayAgo = simulator.volume(at - DAY_MS);
    const { bids, asks } = book(market, at);
    const restingUsd =
      bids.reduce((sum, { price, size }) => sum + price * size, 0) +
      asks.reduce((sum, { price, size }) => sum + (1 - price) * size, 0);
    return {
      volumeContracts: totalVolume.contracts,
      volumeUsd: totalVolume.dollars,
      volume24hContracts: roundTo(totalVolume.contracts - volumeDayAgo.contracts, 2),
      volume24hUsd: roundTo(totalVolume.dollars - volumeDayAgo.dollars, 2),
      openInterestContracts: Math.round(totalVolume.contracts * 0.35),
      liquidityUsd: roundTo(restingUsd, 2),
      traderCount: Math.ceil(Math.sqrt(totalVolume.contracts)),
    };
  };

  const priceHistory: SimulatedWorld["priceHistory"] = (market, from, to, intervalMs) => {
    const points: ReturnType<SimulatedWorld["priceHistory"]>[number][] = [];
    const { tradingEndsAt } = groundTruthOf(market);
    const simulator = simulatorOf(market);
    const firstNumber = Math.floor(Math.max(from, market.openAt) / intervalMs) + 1;
    const lastNumber = Math.min(Math.floor(Math.min(to, tradingEndsAt) / intervalMs), firstNumber + HISTORY_POINTS_MAX);
    let volumeBefore = simulator.volume((firstNumber - 1) * intervalMs);
    for (let number = firstNumber; number <= lastNumber; number++) {
      const at = number * intervalMs;
      const state = book(market, Math.min(at, tradingEndsAt - 1));
      const volumeAfterPoint = simulator.volume(at);
      points.push({
        at,
        bid: state.bids[0]?.price ?? null,
        ask: state.asks[0]?.price ?? null,
        lastPrice: state.lastPrice,
        volumeContracts: roundTo(volumeAfterPoint.contracts - volumeBefore.contracts, 2),
      });
      volumeBefore = volumeAfterPoint;
    }
    return points;
  };

  let cachedPairs: { readonly listings: readonly Listing[]; readonly pairs: readonly MarketPair[] } | null = null;
  const pairs = (at: number): readonly MarketPair[] => {
    const listings = SANDBOX_VENUES.map((venue) => universe.listing(venue, at));
    if (cachedPairs === null || listings.some((listing, index) => listing !== cachedPairs?.listings[index]))
      cachedPairs = { listings, pairs: listPairs(listings.flatMap((listing) => listing.events)) };
    return cachedPairs.pairs;
  };

  return {
    seed,
    genesis,
    speed,
    pairs,
    events: (venue, at) => universe.listing(venue, at).events,
    markets: (venue, at) => universe.listing(venue, at).markets,
    lifecycle,
    book,
    probability: (market, at) =>
      simulatorOf(market).probability(Math.max(market.openAt, Math.min(at, groundTruthOf(market).tradingEndsAt - 1))),
    activity,
    trades: (market, from, to) => simulatorOf(market).trades(from, to),
    priceHistory,
    nextPhaseAt: (market, after) => nextPhaseAt(market, after, seed, groundTruthOf(market)),
    nextChangeAt(market, after) {
      const { tradingEndsAt } = groundTruthOf(market);
      const pause = pauseOf(market, seed);
      const pauseTimes = pause === null ? [] : [pause.from, pause.to];
      return Math.min(
        simulatorOf(market).nextChangeAt(after),
        ...pauseTimes.filter((pauseTime) => pauseTime > after && pauseTime < tradingEndsAt),
      );
    },
  };
}
