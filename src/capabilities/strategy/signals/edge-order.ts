import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";
import { BackgroundJobs } from "../../../lib/periodic-job.ts";
import type { MarketDependencies } from "../../markets/ports.ts";

/** Interval of updates for changed prices and new estimates. */
const CHANGES_PAUSE_MS = 1_000;
/** Interval of updates for all estimates, which also expire and depend on the prices of other markets. */
const ALL_PAUSE_MS = 10_000;
/** Number of estimates after which an update yields to the event loop. */
const BATCH_MARKETS = 100;

interface EdgeOrderDependencies extends Pick<MarketDependencies, "board" | "clock" | "log" | "probabilityOf"> {
  readonly estimates: {
    /** Returns the analysis of a market; null if there is none. */
    find(venue: VenueId, marketId: string): unknown;
    /** Calls `onChange` after each new analysis of a market. */
    observe(onChange: (venue: VenueId, marketId: string) => void): void;
  };
}

/** Maintains the board's sort key `edge`: the distance between the estimate and the price of each market. */
export function createEdgeOrder({ board, estimates, probabilityOf, clock, log }: EdgeOrderDependencies) {
  const jobs = new BackgroundJobs(clock, log);
  /** Markets with an estimate, by their id. */
  const estimated = new Map<string, MarketRef>();
  const changed = new Set<string>();

  const addEstimate = (venue: VenueId, marketId: string) => {
    const id = formatMarketRef({ venue, marketId });
    estimated.set(id, { venue, marketId });
    changed.add(id);
  };

  const order = async (ids: readonly string[]): Promise<void> => {
    for (const [index, id] of ids.entries()) {
      const name = estimated.get(id);
      const market = name === undefined ? null : board.find(name.venue, name.marketId);
      if (market === null) estimated.delete(id);
      else {
        const probability = probabilityOf(market);
        const isKnown = probability !== null && market.yesPrice !== null;
        board.setEdge(market, isKnown ? Math.abs(probability - market.yesPrice) : null);
      }
      if (index % BATCH_MARKETS === BATCH_MARKETS - 1) await clock.yieldToEventLoop();
    }
  };

  board.observe({
    onSet({ listing: { venue, marketId } }) {
      const id = formatMarketRef({ venue, marketId });
      if (estimated.has(id)) changed.add(id);
      // A market can have been analysed before it was on the board.
      else if (estimates.find(venue, marketId) !== null) addEstimate(venue, marketId);
    },
    onRemove() {},
  });
  estimates.observe(addEstimate);

  const orderChanges = async (): Promise<void> => {
    const ids = [...changed];
    changed.clear();
    await order(ids);
  };

  return {
    /** Updates the markets whose price or analysis has changed since the last call. */
    orderChanges,
    /** Updates all markets with an estimate. */
    orderAll: (): Promise<void> => order([...estimated.keys()]),
    /** Names of the jobs whose last run failed. */
    get failingJobs(): readonly string[] {
      return jobs.failing;
    },
    start(): void {
      jobs.start("edge_order_changes", CHANGES_PAUSE_MS, orderChanges);
      jobs.start("edge_order", ALL_PAUSE_MS, () => order([...estimated.keys()]));
    },
    stop: (): Promise<void> => jobs.stop(),
  };
}
