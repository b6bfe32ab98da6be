import type { BoardMarket } from "../../../board/index.ts";
import { toCents } from "../../../domain/usd.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { type Lot, type Position, realisedPnlUsd, sidePrice, sumUsd } from "../../../trading/index.ts";
import type { PaperTrade } from "./model.ts";

export function presentPaperTrade(trade: PaperTrade) {
  const valueUsd = trade.contracts * trade.price;
  return {
    trade_id: trade.tradeId,
    platform: trade.venue,
    market_id: trade.marketId,
    title: trade.title,
    side: trade.side,
    size_usd: valueUsd,
    contracts: trade.contracts,
    price: trade.price,
    fee_usd: trade.feeUsd,
    cost_usd: sumUsd([valueUsd, trade.feeUsd]),
    entered_at: toIso(trade.enteredAt),
  };
}

/**
 * Creates the PortfolioPosition object of the API.
 *
 * @param market  null if it is not on the board
 * @param title  null if it is unknown
 */
export function presentPosition(position: Position, market: BoardMarket | null, title: string | null) {
  const { side, contracts, costUsd } = position;
  const yesPrice = market?.yesPrice ?? null;
  const valueUsd = yesPrice === null ? null : contracts * sidePrice(side, yesPrice);
  return {
    platform: position.venue,
    market_id: position.marketId,
    title,
    side,
    contracts,
    entry_price: position.entryPrice,
    cost_usd: toCents(costUsd),
    yes_price: yesPrice,
    value_usd: valueUsd === null ? null : toCents(valueUsd),
    unrealized_pnl_usd: valueUsd === null ? null : toCents(valueUsd - costUsd),
    status: market?.listing.status ?? null,
    opened_at: toIso(position.openedAt),
  };
}

/** A lot whose last contract was closed or settled. */
export type ClosedLot = Lot & { readonly resolvedAt: number };

/** Creates the ClosedTrade object of the API. @param title  null if it is unknown */
export function presentClosedLot(lot: ClosedLot, title: string | null) {
  return {
    platform: lot.venue,
    market_id: lot.marketId,
    title,
    side: lot.side,
    contracts: lot.contracts,
    entry_price: lot.price,
    cost_usd: toCents(lot.contracts * lot.price + lot.feeUsd),
    pnl_usd: toCents(realisedPnlUsd(lot)),
    result: lot.exits.some(({ kind }) => kind === "settled") ? ("settled" as const) : ("closed" as const),
    opened_at: toIso(lot.at),
    closed_at: toIso(lot.resolvedAt),
  };
}
