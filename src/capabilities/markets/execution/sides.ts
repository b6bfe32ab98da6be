import type { MarketListing } from "../../../domain/market.ts";
import type { BookLevel, OrderBook } from "../../../domain/order-book.ts";
import { floorToContractStep } from "../../../domain/order-rules.ts";
import { complement } from "../../../domain/price.ts";
import { walkBook } from "../../../quant/book-walk.ts";
import { limitPrice } from "../../../quant/limit-price.ts";
import type { SpreadTrend } from "../../../quant/spread-history.ts";
import { type OrderAction, orderFee, type PriceFill } from "../../../quant/taker-fee.ts";
import type { SideGuidance, SidesGuidance } from "./model.ts";

/** Tolerance for a floating-point error in a number of contracts. */
const CONTRACT_TOLERANCE = 1e-9;

type OrderRules = Pick<MarketListing, "priceRanges" | "takerFee" | "minOrderContracts" | "contractStep">;

/**
 * Describes a limit order and a market order for each side. A NO contract at p is the other side of a YES contract at
 * 1 - p, so an order that buys NO has the limits of one that sells YES.
 *
 * @param book  two-sided and not crossed
 * @param sizeUsd  value of the market order, above 0
 */
export function guideSides(
  { bids, asks }: OrderBook,
  rules: OrderRules,
  { sizeUsd, trend }: { readonly sizeUsd: number; readonly trend: SpreadTrend | null },
): SidesGuidance | null {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) return null;
  const { priceRanges } = rules;
  const limitOf = (action: OrderAction) =>
    priceRanges === null ? null : limitPrice({ bid, ask, priceRanges, trend, action });
  const [buyLimit, sellLimit] = [limitOf("buy"), limitOf("sell")];
  const guide = (levels: readonly BookLevel[], action: OrderAction, limit: number | null): SideGuidance => ({
    limitPrice: limit,
    ...guideMarketOrder(levels, rules, action, sizeUsd),
  });
  return {
    buyYes: guide(asks, "buy", buyLimit),
    buyNo: guide(complementLevels(bids), "buy", complementOrNull(sellLimit)),
    sellYes: guide(bids, "sell", sellLimit),
    sellNo: guide(complementLevels(asks), "sell", complementOrNull(buyLimit)),
  };
}

const NO_ORDER = {
  contracts: null,
  averagePrice: null,
  worstPrice: null,
  slippagePercent: null,
  feeUsd: null,
} as const;

/** Null values if the book cannot fill the order, or if the order is below the smallest one. */
function guideMarketOrder(
  levels: readonly BookLevel[],
  rules: OrderRules,
  action: OrderAction,
  sizeUsd: number,
): Omit<SideGuidance, "limitPrice"> {
  const walk = walkBook(levels, sizeUsd);
  const contracts = walk.isComplete ? floorToContractStep(rules, walk.contracts) : 0;
  const fills = takeContracts(levels, contracts);
  const [best, worst] = [fills[0]?.price, fills.at(-1)?.price];
  if (best === undefined || worst === undefined || contracts < (rules.minOrderContracts ?? 0)) return NO_ORDER;
  const averagePrice = fills.reduce((sum, { price, contracts: taken }) => sum + price * taken, 0) / contracts;
  return {
    contracts,
    averagePrice,
    worstPrice: worst,
    slippagePercent: Math.round((Math.abs(averagePrice - best) / best) * 1e6) / 1e4,
    feeUsd: rules.takerFee === null ? null : orderFee(rules.takerFee, fills, action),
  };
}

function takeContracts(levels: readonly BookLevel[], contracts: number): PriceFill[] {
  const fills: PriceFill[] = [];
  let rest = contracts;
  for (const { price, size } of levels) {
    if (rest <= CONTRACT_TOLERANCE) break;
    fills.push({ price, contracts: Math.min(rest, size) });
    rest -= size;
  }
  return fills;
}

const complementLevels = (levels: readonly BookLevel[]): BookLevel[] =>
  levels.map(({ price, size }) => ({ price: complement(price), size }));

const complementOrNull = (price: number | null): number | null => (price === null ? null : complement(price));
