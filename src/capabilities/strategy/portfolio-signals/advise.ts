import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { acceptsOrders } from "../../../domain/close-time.ts";
import { settlementValueOf } from "../../../domain/market.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import { buyLimitPrice, floorToContractStep, smallestOrder } from "../../../domain/order-rules.ts";
import { complement } from "../../../domain/price.ts";
import type { Clock } from "../../../ports/clock.ts";
import { takerFee } from "../../../quant/taker-fee.ts";
import {
  advisePosition,
  type LogicalConstraint,
  type OppositeOffer,
  offersOf,
  type PositionAdvice,
  type Side,
  type SizingOptions,
  sidePrice,
} from "../../../trading/index.ts";
import { findLogicalConstraints, type LogicPorts, type RelatedMarkets } from "../../markets/relations/index.ts";
import { type KnownBook, knownBookOf, quoteBook } from "../signals/index.ts";
import type { RequestedPosition } from "./model.ts";

/** Contract step of orders if the venue's is unknown: whole contracts, which every venue accepts. */
const CONTRACT_STEP_DEFAULT = 1;

export interface AdvisePorts {
  readonly board: LogicPorts["board"] & Pick<MarketBoard, "find">;
  readonly pairsOf: LogicPorts["pairsOf"];
  readonly relatedMarkets: Pick<RelatedMarkets, "findRelated">;
  /** Our current estimate of the probability of YES; null if there is none. */
  readonly probabilityOf: (market: BoardMarket) => number | null;
  /** The order book that is known without a request; null if none is. */
  readonly trackedBookOf: (market: BoardMarket) => OrderBook | null;
  readonly clock: Pick<Clock, "now">;
}

/** The opposite side of a position in another market. */
interface Opposite extends OppositeOffer {
  readonly market: BoardMarket;
  readonly side: Side;
  /** Of an order that takes the offer, on the price grid of the market. */
  readonly limitPrice: number;
}

/** What to do with a held position. Prices and probabilities without "yes" in their name are those of the held side. */
export interface AdvisedHolding {
  readonly position: RequestedPosition;
  readonly market: BoardMarket;
  readonly contracts: number;
  /** Estimated probability of YES; null without a current estimate. */
  readonly probability: number | null;
  /** Price of the side, in [0, 1]; of a settled market, what it pays. Null if unknown. */
  readonly markPrice: number | null;
  /** The prices of the advice; null if none are current. */
  readonly book: Pick<KnownBook, "source" | "at"> | null;
  readonly advice: PositionAdvice;
  /** With the action `hedge`. */
  readonly opposite: Opposite | null;
}

/** Advises on each position. Reads only what is in memory. */
export async function adviseHoldings(
  ports: AdvisePorts,
  positions: readonly RequestedPosition[],
  held: readonly BoardMarket[],
  sizing: SizingOptions,
): Promise<AdvisedHolding[]> {
  const now = ports.clock.now();
  const unique = [...new Map(held.map((market) => [market.row, market])).values()];
  const open = unique.filter(({ listing }) => listing.outcome === null);
  const markets = [...open, ...(await ports.relatedMarkets.findRelated(open))];
  const constraints = findLogicalConstraints(markets, ports);
  const bookOf = (market: BoardMarket): KnownBook | null =>
    acceptsOrders(market.listing, market.updatedAt, now) ? knownBookOf(market, ports.trackedBookOf(market), now) : null;
  return positions.map((position, index): AdvisedHolding => {
    const found = held[index];
    if (found === undefined) throw new Error(`the market ${position.venue}/${position.marketId} was not looked up`);
    // Prices may have moved since the look-up. The estimate and the price are those of the bids that the advice compares.
    const listed = ports.board.find(position.venue, position.marketId) ?? found;
    const book = bookOf(listed);
    const market = book?.source === "book" ? quoteBook(listed, book, now) : listed;
    const { side, sizeUsd, entryPrice } = position;
    const contracts = sizeUsd / entryPrice;
    const { outcome } = market.listing;
    if (outcome !== null) return settledHolding(position, market, contracts, settlementValueOf(outcome));
    const contractStep = market.listing.contractStep ?? CONTRACT_STEP_DEFAULT;
    const yesProbability = ports.probabilityOf(market);
    const opposite = cheapestOpposite(oppositesOf(market, side, markets, constraints), bookOf, contracts);
    const advice = advisePosition({
      contracts,
      probability: yesProbability === null ? null : sidePrice(side, yesProbability),
      // A bid for the side is an offer of the other side at 1 minus its price.
      bids: book === null ? null : bidsFor(book, side),
      takerFee: market.listing.takerFee,
      contractStep,
      minOrderContracts: Math.max(contractStep, market.listing.minOrderContracts ?? 0),
      opposite,
      bankrollUsd: sizing.bankrollUsd,
      positionMax: sizing.positionMax,
    });
    return {
      position,
      market,
      contracts,
      probability: yesProbability,
      markPrice: market.yesPrice === null ? null : sidePrice(side, market.yesPrice),
      book,
      advice,
      opposite: advice.action === "hedge" ? opposite : null,
    };
  });
}

function settledHolding(
  position: RequestedPosition,
  market: BoardMarket,
  contracts: number,
  value: number | null,
): AdvisedHolding {
  // If a market is void without a value, the venue refunds the stake.
  const paid = value === null ? position.entryPrice : sidePrice(position.side, value);
  const reason = "The market is settled: there is nothing to sell.";
  const advice: PositionAdvice = { action: "keep", reason, contracts: 0, sale: null };
  return { position, market, contracts, probability: null, markPrice: paid, book: null, advice, opposite: null };
}

const bidsFor = ({ bids, asks }: KnownBook, side: Side) =>
  side === "yes" ? bids : asks.map(({ price, size }) => ({ price: complement(price), size }));

/** Returns the markets and sides whose YES or NO pays exactly if the position does not. */
function oppositesOf(
  market: BoardMarket,
  side: Side,
  markets: readonly BoardMarket[],
  constraints: readonly LogicalConstraint[],
) {
  const own = markets.findIndex(({ row }) => row === market.row);
  const other: Side = side === "yes" ? "no" : "yes";
  return constraints.flatMap((constraint): { readonly market: BoardMarket; readonly side: Side }[] => {
    if (
      (constraint.kind !== "same" && constraint.kind !== "opposite") ||
      (constraint.a !== own && constraint.b !== own)
    )
      return [];
    const found = markets[constraint.a === own ? constraint.b : constraint.a];
    return found === undefined ? [] : [{ market: found, side: constraint.kind === "same" ? other : side }];
  });
}

/** Returns the cheapest opposite of which an order can be sent: on the steps of its market, and not below its smallest order. */
function cheapestOpposite(
  opposites: ReturnType<typeof oppositesOf>,
  bookOf: (market: BoardMarket) => KnownBook | null,
  held: number,
): Opposite | null {
  const offers = opposites.flatMap(({ market, side }): Opposite[] => {
    const [book, fee] = [bookOf(market), market.listing.takerFee];
    const best = book === null ? undefined : offersOf(book, side)[0];
    if (best === undefined || fee === null) return [];
    const cost = best.price + takerFee(fee, best.price);
    const contracts = floorToContractStep(market.listing, Math.min(held, best.size));
    const limitPrice = buyLimitPrice(market.listing.priceRanges, side, best.price);
    if (cost >= 1 || limitPrice === null || contracts < smallestOrder(market.listing)) return [];
    return [{ market, side, cost, contracts, limitPrice }];
  });
  return offers.sort((a, b) => a.cost - b.cost)[0] ?? null;
}
