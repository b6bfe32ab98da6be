import type { BoardMarket } from "../../../board/index.ts";
import { acceptsOrders } from "../../../domain/close-time.ts";
import { type MarketListing, settlementValueOf } from "../../../domain/market.ts";
import { complementLevels, offersOf } from "../../../domain/order-book.ts";
import { buyLimitPrice, floorToContractStep, sellLimitPrice, smallestOrder } from "../../../domain/order-rules.ts";
import type { Side } from "../../../domain/price.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { takerFee } from "../../../quant/taker-fee.ts";
import {
  advisePosition,
  type LogicalConstraint,
  type OppositeOffer,
  type PositionAdvice,
  type SizingOptions,
  sidePrice,
} from "../../../trading/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import { findLogicalConstraints, type RelatedMarkets } from "../../markets/relations/index.ts";
import { type KnownBook, knownBookOf, quoteBook } from "../signals/index.ts";
import type { RequestedPosition } from "./model.ts";
import type { PortfolioAdvice } from "./schema.ts";

export interface AdviseDependencies
  extends Pick<MarketDependencies, "board" | "clock" | "pairsOf" | "probabilityOf" | "trackedBooksOf"> {
  readonly relatedMarkets: Pick<RelatedMarkets, "findRelated">;
}

/** An offer of the opposite side of a position, in another market. */
interface Opposite extends OppositeOffer {
  readonly market: BoardMarket;
  readonly side: Side;
  /** Limit price of an order that takes the offer, on the price grid of the market. */
  readonly limitPrice: number;
}

/** Advice on a position, and its inputs. */
interface AdvisedPosition {
  readonly position: RequestedPosition;
  readonly market: BoardMarket;
  /** Estimated probability of YES; null without a current estimate. */
  readonly yesProbability: number | null;
  /** Price of the held side, or its payout if the market is settled; null if unknown. */
  readonly markPrice: number | null;
  /** Order book used for the advice; null if there are no current prices. */
  readonly book: KnownBook | null;
  readonly advice: PositionAdvice;
  readonly opposite: Opposite | null;
}

/** Advises on each position, from data in memory. */
export async function advisePositions(
  ports: AdviseDependencies,
  positions: readonly RequestedPosition[],
  held: readonly BoardMarket[],
  sizing: SizingOptions,
): Promise<PortfolioAdvice["positions"]> {
  const now = ports.clock.now();
  const unique = [...new Map(held.map((market) => [market.row, market])).values()];
  const open = unique.filter(({ listing }) => listing.outcome === null);
  const markets = [...open, ...(await ports.relatedMarkets.findRelated(open))];
  const constraints = findLogicalConstraints(markets, ports);
  const books = await ports.trackedBooksOf(markets);
  const bookByRow = new Map(markets.map(({ row }, index) => [row, books[index] ?? null]));
  const bookOf = (market: BoardMarket): KnownBook | null =>
    acceptsOrders(market.listing, market.updatedAt, now)
      ? knownBookOf(market, bookByRow.get(market.row) ?? null, now)
      : null;
  return positions.map((position, index) => {
    const found = held[index];
    if (found === undefined) throw new Error(`the market ${position.venue}/${position.marketId} was not looked up`);
    // Prices may have moved since the look-up. Estimate and price are therefore taken from the same order book as the
    // bids of the advice.
    const listed = ports.board.find(position.venue, position.marketId) ?? found;
    const book = bookOf(listed);
    const market = book?.source === "book" ? quoteBook(listed, book, now) : listed;
    const { side, sizeUsd, entryPrice } = position;
    const contracts = sizeUsd / entryPrice;
    const { outcome } = market.listing;
    if (outcome !== null) return presentSettled(position, market, settlementValueOf(outcome));
    const yesProbability = ports.probabilityOf(market);
    const opposite = cheapestOpposite(oppositesOf(market, side, markets, constraints), bookOf, contracts);
    const advice = advisePosition({
      contracts,
      probability: yesProbability === null ? null : sidePrice(side, yesProbability),
      // The bids for NO are the offers of YES, and the reverse.
      bids: book === null ? null : complementLevels(offersOf(book, oppositeOf(side))),
      takerFee: market.listing.takerFee,
      contractStep: market.listing.contractStep,
      minOrderContracts: market.listing.minOrderContracts,
      opposite,
      bankrollUsd: sizing.bankrollUsd,
      positionMax: sizing.positionMax,
    });
    const markPrice = market.yesPrice === null ? null : sidePrice(side, market.yesPrice);
    return presentAdvice({ position, market, yesProbability, markPrice, book, advice, opposite });
  });
}

function presentSettled(position: RequestedPosition, market: BoardMarket, value: number | null) {
  // If a market is void without a value, the venue refunds the stake.
  const paid = value === null ? position.entryPrice : sidePrice(position.side, value);
  const reason = "The market is settled: there is nothing to sell.";
  const advice: PositionAdvice = { action: "keep", reason, contracts: 0, sale: null };
  const unknown = { yesProbability: null, book: null, opposite: null };
  return presentAdvice({ position, market, markPrice: paid, advice, ...unknown });
}

function presentAdvice({ position, market, yesProbability, markPrice, book, advice, opposite }: AdvisedPosition) {
  const { side, sizeUsd, entryPrice } = position;
  const { listing } = market;
  const { action, sale } = advice;
  const contracts = sizeUsd / entryPrice;
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    side,
    contracts,
    action,
    action_contracts: advice.contracts,
    reason: advice.reason,
    model_probability: yesProbability,
    mark_price: markPrice,
    mark_value_usd: markPrice === null ? null : contracts * markPrice,
    unrealized_pnl_usd: markPrice === null ? null : contracts * markPrice - sizeUsd,
    expected_value_usd: yesProbability === null ? null : contracts * sidePrice(side, yesProbability),
    exit: sale === null ? null : presentSale(sale, side, listing, markPrice),
    hedge: opposite === null || action !== "hedge" ? null : presentOpposite(opposite, advice.contracts),
    price_source: book?.source ?? null,
    priced_at: book === null ? null : toIso(book.at),
  };
}

const presentSale = (
  { contracts, averagePrice, worstPrice, feeUsd, proceedsUsd }: NonNullable<PositionAdvice["sale"]>,
  side: Side,
  { priceRanges }: MarketListing,
  markPrice: number | null,
) => ({
  contracts,
  average_price: averagePrice,
  limit_price: sellLimitPrice(priceRanges, side, worstPrice),
  fee_usd: feeUsd,
  proceeds_usd: proceedsUsd,
  cost_usd: markPrice === null ? null : contracts * markPrice - proceedsUsd,
});

const presentOpposite = ({ market: { listing }, side, limitPrice, cost }: Opposite, contracts: number) => ({
  platform: listing.venue,
  market_id: listing.marketId,
  title: listing.title,
  side,
  contracts,
  limit_price: limitPrice,
  average_cost: cost,
  cost_usd: contracts * cost,
});

const oppositeOf = (side: Side): Side => (side === "yes" ? "no" : "yes");

/** Returns the markets and sides that pay exactly if the position does not. */
function oppositesOf(
  market: BoardMarket,
  side: Side,
  markets: readonly BoardMarket[],
  constraints: readonly LogicalConstraint[],
) {
  const own = markets.findIndex(({ row }) => row === market.row);
  return constraints.flatMap((constraint): { readonly market: BoardMarket; readonly side: Side }[] => {
    if (
      (constraint.kind !== "same" && constraint.kind !== "opposite") ||
      (constraint.a !== own && constraint.b !== own)
    )
      return [];
    const found = markets[constraint.a === own ? constraint.b : constraint.a];
    return found === undefined ? [] : [{ market: found, side: constraint.kind === "same" ? oppositeOf(side) : side }];
  });
}

/**
 * Returns the cheapest opposite offer for which an order is possible: rounded to the contract step, and not below the
 * smallest order.
 */
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
