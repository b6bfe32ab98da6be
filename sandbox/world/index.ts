/** The simulated world behind the four sandbox exchanges. `types.ts` says what it offers. */
import { activityClock, Dynamics, type Pause } from "./dynamics.ts";
import { uniform } from "./random.ts";
import { trueProbability } from "./truth.ts";
import type { BookState, Lifecycle, ListedMarket, SimulatedWorld, WorldOutcome } from "./types.ts";
import { Universe } from "./universe.ts";

export { createFeed } from "./feed.ts";

const DAY_MS = 86_400_000;
const PAUSE_MS = 10 * 60_000;
const PAST_POINTS_MAX = 50_000;
/** Markets whose last books and batches are remembered: those followed by streams, not all that a sweep passes. */
const DYNAMICS_REMEMBERED = 2_048;

const Draw = { outcome: 1, paused: 2, pausedAt: 3 } as const;

export interface WorldOptions {
  /** 32-bit integer. */
  readonly seed: number;
  /** Unix milliseconds of the first start: before it time passes at its own pace, after it trading is `speed` times as lively. */
  readonly genesis: number;
  readonly speed: number;
  /** Open markets wanted on the money venues together at genesis. */
  readonly marketCount: number;
}

/** A world that is a function of its options: the same options give the same books, trades and outcomes at any instant. */
export function createWorld(options: WorldOptions): SimulatedWorld {
  const { seed, genesis, speed } = options;
  const universe = new Universe(options);
  const clock = activityClock(genesis, speed);
  const dynamics = new Map<ListedMarket, Dynamics>();

  const dynamicsOf = (market: ListedMarket): Dynamics => {
    let known = dynamics.get(market);
    if (known === undefined) {
      known = new Dynamics(market, universe.secret(market), { seed, clock, pause: pauseOf(market) });
      dynamics.set(market, known);
      const oldest = dynamics.keys().next();
      if (dynamics.size > DYNAMICS_REMEMBERED && oldest.done !== true) dynamics.delete(oldest.value);
    }
    return known;
  };

  const outcomeOf = (market: ListedMarket): WorldOutcome => {
    const u = uniform(seed, market.event.index, Draw.outcome);
    if (u < 0.015) return { kind: "void" };
    if (u < 0.025 && !market.event.mutuallyExclusive && !market.event.ladder) return { kind: "partial", value: 0.5 };
    const { source, claim } = universe.secret(market);
    return trueProbability(source, claim, source.revealAt) >= 0.5 ? { kind: "yes" } : { kind: "no" };
  };

  const pauseOf = (market: ListedMarket): Pause | null => {
    if (market.event.frequency === "fifteen_min" || uniform(seed, market.index, Draw.paused) > 0.02) return null;
    const from = Math.round(
      market.openAt + uniform(seed, market.index, Draw.pausedAt) * (market.closeAt - market.openAt),
    );
    return { from, to: from + PAUSE_MS };
  };

  const lifecycle = (market: ListedMarket, at: number): Lifecycle => {
    const { endsAt } = universe.secret(market);
    if (at < market.openAt) return { phase: "pending", outcome: null, since: Number.NEGATIVE_INFINITY };
    if (at < endsAt) {
      const pause = pauseOf(market);
      if (pause !== null && at >= pause.from && at < pause.to)
        return { phase: "paused", outcome: null, since: pause.from };
      return { phase: "active", outcome: null, since: pause !== null && at >= pause.to ? pause.to : market.openAt };
    }
    if (at < market.determineAt) return { phase: "closed", outcome: null, since: endsAt };
    if (at >= market.finalizeAt) return { phase: "finalized", outcome: outcomeOf(market), since: market.finalizeAt };
    if (market.disputed && at >= disputedAt(market))
      return { phase: "disputed", outcome: outcomeOf(market), since: disputedAt(market) };
    return { phase: "determined", outcome: outcomeOf(market), since: market.determineAt };
  };

  const book = (market: ListedMarket, at: number): BookState => {
    const { endsAt } = universe.secret(market);
    const state = dynamicsOf(market).book(Math.max(market.openAt, Math.min(at, endsAt - 1)));
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
    const known = dynamicsOf(market);
    const now = known.traded(at);
    const dayAgo = known.traded(at - DAY_MS);
    const { bids, asks } = book(market, at);
    const resting =
      bids.reduce((sum, level) => sum + level.price * level.size, 0) +
      asks.reduce((sum, level) => sum + (1 - level.price) * level.size, 0);
    return {
      volumeContracts: now.contracts,
      volumeUsd: now.dollars,
      volume24hContracts: Math.round((now.contracts - dayAgo.contracts) * 100) / 100,
      volume24hUsd: Math.round((now.dollars - dayAgo.dollars) * 100) / 100,
      openInterestContracts: Math.round(now.contracts * 0.35),
      liquidityUsd: Math.round(resting * 100) / 100,
      traderCount: Math.ceil(Math.sqrt(now.contracts)),
    };
  };

  const past: SimulatedWorld["past"] = (market, from, to, intervalMs) => {
    const points: ReturnType<SimulatedWorld["past"]>[number][] = [];
    const { endsAt } = universe.secret(market);
    const known = dynamicsOf(market);
    const first = Math.floor(Math.max(from, market.openAt) / intervalMs) + 1;
    const last = Math.min(Math.floor(Math.min(to, endsAt) / intervalMs), first + PAST_POINTS_MAX);
    let before = known.traded((first - 1) * intervalMs);
    for (let number = first; number <= last; number++) {
      const at = number * intervalMs;
      const state = book(market, Math.min(at, endsAt - 1));
      const after = known.traded(at);
      points.push({
        at,
        bid: state.bids[0]?.price ?? null,
        ask: state.asks[0]?.price ?? null,
        lastPrice: state.lastPrice,
        volumeContracts: Math.round((after.contracts - before.contracts) * 100) / 100,
        volumeUsd: Math.round((after.dollars - before.dollars) * 100) / 100,
      });
      before = after;
    }
    return points;
  };

  return {
    seed,
    genesis,
    speed,
    events: (venue, at) => universe.events(venue, at).events,
    markets: (venue, at) => universe.events(venue, at).markets,
    lifecycle,
    book,
    probability: (market, at) =>
      dynamicsOf(market).probability(Math.max(market.openAt, Math.min(at, universe.secret(market).endsAt - 1))),
    activity,
    trades: (market, from, to) => dynamicsOf(market).trades(from, to),
    past,
    nextPhaseAt(market, after) {
      const { endsAt } = universe.secret(market);
      const pause = pauseOf(market);
      const edges = [market.openAt, endsAt, market.determineAt, market.finalizeAt];
      if (pause !== null && pause.from < endsAt) edges.push(pause.from, Math.min(pause.to, endsAt));
      if (market.disputed) edges.push(disputedAt(market));
      return Math.min(...edges.filter((edge) => edge > after));
    },
    nextChangeAt(market, after) {
      const next = dynamicsOf(market).nextChangeAt(after);
      const pause = pauseOf(market);
      const edges =
        pause === null
          ? []
          : [pause.from, pause.to].filter((edge) => edge > after && edge < universe.secret(market).endsAt);
      return Math.min(next, ...edges);
    },
  };
}

/** A result that is disputed stands undisputed for the first third of the time to its settlement. */
function disputedAt(market: ListedMarket): number {
  return market.determineAt + (market.finalizeAt - market.determineAt) / 3;
}
