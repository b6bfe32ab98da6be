import type { BoardMarket } from "../../../board/index.ts";
import { settlementValueOf } from "../../../domain/market.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import { complement } from "../../../domain/price.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import type { WorkerPool } from "../../../ports/worker-pool.ts";
import { takerFee } from "../../../quant/taker-fee.ts";
import {
  type HedgeCandidate,
  type HeldPosition,
  type PortfolioSize,
  type PortfolioTask,
  type SizingOptions,
  sidePrice,
} from "../../../trading/index.ts";
import { lookUpMarkets } from "../../markets/look-up.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { findLogicalConstraints } from "../../markets/relations/index.ts";
import type { SignalsService } from "../signals/index.ts";
import { type AdviseDependencies, advisePositions } from "./advise.ts";
import type { PortfolioRequest, PortfolioSignal, RequestedPosition } from "./model.ts";
import type { PortfolioAdvice } from "./schema.ts";

export interface PortfolioSignalDependencies
  extends AdviseDependencies,
    Pick<MarketDependencies, "getMarket" | "correlatePairs"> {
  readonly signals: Pick<SignalsService, "prepare" | "decide" | "candidateOf">;
  readonly workers: WorkerPool<PortfolioTask, PortfolioSize>;
}

export type PortfolioSignalsService = ReturnType<typeof createPortfolioSignalsService>;

/** Sizes signals for callers who hold positions. The computation runs on a worker thread. */
export function createPortfolioSignalsService(ports: PortfolioSignalDependencies) {
  const { board, signals } = ports;

  const getHeld = (positions: readonly RequestedPosition[]): Promise<BoardMarket[]> =>
    lookUpMarkets(
      ports,
      positions,
      (position) => `The portfolio has a position in an unknown market: ${formatMarketRef(position)}`,
    );

  return {
    /**
     * Returns advice on each position.
     *
     * @throws AppError `market_not_found`; VenueError
     */
    async advise(positions: readonly RequestedPosition[], sizing: SizingOptions): Promise<PortfolioAdvice> {
      const advised = await advisePositions(ports, positions, await getHeld(positions), sizing);
      return { positions: advised, generated_at: toIso(ports.clock.now()) };
    },

    /**
     * Returns a signal whose size accounts for the positions, or the running analysis that the signal requires.
     *
     * @throws AppError `market_not_found`, `analysis_failed`, `venue_unavailable`, `overloaded`, `rate_limited`,
     *   `store_unavailable`; InvalidRequestError; VenueError
     */
    async generate(request: PortfolioRequest) {
      const { positions, sizing } = request;
      const found = await getHeld(positions);
      const preparation = await signals.prepare(request);
      if (preparation.kind === "running") return preparation;
      const { prepared } = preparation;
      // The request may have waited minutes for the analysis, so the prices of all positions are read again.
      const held = found.map((market) => board.find(market.listing.venue, market.listing.marketId) ?? market);
      const { market, stored } = prepared;
      const signal = signals.decide(prepared, sizing);
      const open = held.filter(({ listing }) => listing.outcome === null);
      const uncertain = uniqueMarkets([market, ...open]);
      const related = await ports.relatedMarkets.findRelated(uncertain);
      const markets = [...uncertain, ...related];
      const hedges = related.flatMap((hedge, index) => offersOf(hedge, uncertain.length + index));
      const buys = signal.recommendation === "NO_TRADE" ? null : signals.candidateOf(prepared);
      const task: PortfolioTask = {
        markets: markets.map((each, index) => ({
          probability: index === 0 ? signal.probability : probabilityOf(each, ports.probabilityOf, positions),
          importance: stakeIn(each, positions) + (index < uncertain.length ? 1 : 0),
        })),
        constraints: findLogicalConstraints(markets, ports),
        correlations: await ports.correlatePairs(markets),
        positions: positions.map((position, index) => toHeldPosition(position, held[index], markets)),
        candidate: buys === null ? null : { ...buys, baseShare: signal.sizePct, eventKey: eventKeyOf(market) },
        hedges,
        sizing,
      };
      const size = await ports.workers.run(task, []);
      const hedgeMarkets = hedges.map((hedge) => ({ market: markets[hedge.market] ?? market, side: hedge.side }));
      const { analysisId } = stored;
      const answer: PortfolioSignal = { market, analysisId, signal, size, positions, sizing, hedges: hedgeMarkets };
      return { kind: "signal" as const, signal: answer };
    },
  };
}

const isSameMarket = ({ listing }: BoardMarket, { venue, marketId }: Pick<RequestedPosition, "venue" | "marketId">) =>
  listing.venue === venue && listing.marketId === marketId;

const uniqueMarkets = (markets: readonly BoardMarket[]): BoardMarket[] =>
  [...Map.groupBy(markets, ({ listing }) => formatMarketRef(listing)).values()].flatMap(([first]) => first ?? []);

const stakeIn = (market: BoardMarket, positions: readonly RequestedPosition[]): number =>
  positions.reduce((sum, position) => sum + (isSameMarket(market, position) ? position.sizeUsd : 0), 0);

/** Returns our estimated probability of YES, else the market price, else the price that the caller paid. */
function probabilityOf(
  market: BoardMarket,
  estimateOf: MarketDependencies["probabilityOf"],
  positions: readonly RequestedPosition[],
): number {
  const known = estimateOf(market) ?? market.yesPrice;
  if (known !== null) return known;
  const position = positions.find((each) => isSameMarket(market, each));
  if (position === undefined) return 0.5;
  return position.side === "yes" ? position.entryPrice : 1 - position.entryPrice;
}

const eventKeyOf = ({ listing: { venue, eventId, marketId } }: BoardMarket): string =>
  eventId === null ? `market ${venue}/${marketId}` : `event ${venue}/${eventId}`;

function toHeldPosition(
  { side, sizeUsd, entryPrice, venue, marketId }: RequestedPosition,
  market: BoardMarket | undefined,
  markets: readonly BoardMarket[],
): HeldPosition {
  if (market === undefined) throw new Error(`the market ${venue}/${marketId} was not looked up`);
  const { outcome } = market.listing;
  const position = { side, sizeUsd, entryPrice, eventKey: eventKeyOf(market) };
  if (outcome === null) {
    const index = markets.findIndex((each) => isSameMarket(each, market.listing));
    return { ...position, market: index, settledValue: null };
  }
  const value = settlementValueOf(outcome);
  // If a market is void without a value, the venue refunds the stake.
  const paid = value === null ? entryPrice : sidePrice(side, value);
  return { ...position, market: null, settledValue: paid };
}

/** Returns both sides of a market with the cost at the best price, fees included, and the USD offered at that price. */
function offersOf({ quote, listing }: BoardMarket, market: number): HedgeCandidate[] {
  const { takerFee: fee } = listing;
  const { bid, ask, bidSize, askSize } = quote;
  if (fee === null || bid === null || ask === null) return [];
  const costOf = (price: number) => price + takerFee(fee, price);
  const sides = [
    { side: "yes" as const, cost: costOf(ask), size: askSize },
    { side: "no" as const, cost: costOf(complement(bid)), size: bidSize },
  ];
  return sides.flatMap(({ side, cost, size }) =>
    cost > 0 && cost < 1 ? [{ market, side, cost, offeredUsd: size === null ? null : size * cost }] : [],
  );
}
