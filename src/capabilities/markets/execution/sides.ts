import type { MarketListing } from "../../../domain/market.ts";
import { type BookLevel, complementLevels, type OrderBook } from "../../../domain/order-book.ts";
import { floorToContractStep } from "../../../domain/order-rules.ts";
import { complement } from "../../../domain/price.ts";
import { takeContracts, walkBook } from "../../../quant/book-walk.ts";
import { limitPrice } from "../../../quant/limit-price.ts";
import type { SpreadTrend } from "../../../quant/spread-history.ts";
import { type OrderAction, orderFee } from "../../../quant/taker-fee.ts";
import type { SideGuidance } from "./schema.ts";

type OrderRules = Pick<MarketListing, "priceRanges" | "takerFee" | "minOrderContracts" | "contractStep">;

/**
 * Describes a limit order and a market order for each side. Buying NO at p is selling YES at 1 - p, so an order that
 * buys NO uses the limit prices of an order that sells YES.
 *
 * @param book  two-sided and not crossed
 * @param sizeUsd  value of the market order, above 0
 */
export function guideSides(
  { bids, asks }: OrderBook,
  rules: OrderRules,
  { sizeUsd, trend }: { readonly sizeUsd: number; readonly trend: SpreadTrend | null },
): Readonly<Record<"buy_yes" | "buy_no" | "sell_yes" | "sell_no", SideGuidance>> | null {
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  if (bid === undefined || ask === undefined) return null;
  const { priceRanges } = rules;
  const limitOf = (action: OrderAction) =>
    priceRanges === null ? null : limitPrice({ bid, ask, priceRanges, trend, action });
  const [buyLimit, sellLimit] = [limitOf("buy"), limitOf("sell")];
  const guide = (levels: readonly BookLevel[], action: OrderAction, limit: number | null): SideGuidance => ({
    limit_price: limit,
    ...guideMarketOrder(levels, rules, action, sizeUsd),
  });
  return {
    buy_yes: guide(asks, "buy", buyLimit),
    buy_no: guide(complementLevels(bids), "buy", complementOrNull(sellLimit)),
    sell_yes: guide(bids, "sell", sellLimit),
    sell_no: guide(complementLevels(asks), "sell", complementOrNull(buyLimit)),
  };
}

const NO_ORDER = {
  contracts: null,
  average_price: null,
  worst_price: null,
  slippage_pct: null,
  fee_usd: null,
} as const;

/** The values are null if the order book cannot fill the order, or if the order is below the venue's minimum. */
function guideMarketOrder(
  levels: readonly BookLevel[],
  rules: OrderRules,
  action: OrderAction,
  sizeUsd: number,
): Omit<SideGuidance, "limit_price"> {
  const walk = walkBook(levels, sizeUsd);
  const contracts = walk.isComplete ? floorToContractStep(rules, walk.contracts) : 0;
  const fills = takeContracts(levels, contracts);
  const [best, worst] = [fills[0]?.price, fills.at(-1)?.price];
  if (best === undefined || worst === undefined || contracts < (rules.minOrderContracts ?? 0)) return NO_ORDER;
  const averagePrice = fills.reduce((sum, { price, contracts: taken }) => sum + price * taken, 0) / contracts;
  return {
    contracts,
    average_price: averagePrice,
    worst_price: worst,
    slippage_pct: Math.round((Math.abs(averagePrice - best) / best) * 1e6) / 1e4,
    fee_usd: rules.takerFee === null ? null : orderFee(rules.takerFee, fills, action),
  };
}

const complementOrNull = (price: number | null): number | null => (price === null ? null : complement(price));
