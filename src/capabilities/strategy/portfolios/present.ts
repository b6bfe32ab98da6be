import { toCents } from "../../../domain/usd.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { sidePrice, sumUsd } from "../../../trading/index.ts";
import type { ClosedLot, OpenPosition, PaperTrade, Portfolio } from "./model.ts";

/** Creates the Portfolio object of the API. */
export function presentPortfolio(portfolio: Portfolio) {
  const { performance } = portfolio;
  return {
    mode: portfolio.mode,
    positions: portfolio.positions.map(presentPosition),
    position_count: portfolio.positionCount,
    closed: portfolio.closed.map(presentClosedLot),
    summary: {
      total_trades: performance.totalTrades,
      resolved_trades: performance.resolvedTrades,
      win_rate: performance.winRate,
      total_pnl: cents(performance.totalPnlUsd),
      roi_pct: performance.roiPct,
      avg_edge: performance.averageEdge,
      max_drawdown: cents(performance.maxDrawdownUsd),
      sharpe_ratio: performance.sharpeRatio,
    },
    truncated: portfolio.isTruncated,
    generated_at: toIso(portfolio.generatedAt),
  };
}

/** Creates the PaperTrade object of the API. */
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

function presentPosition(position: OpenPosition) {
  const { side, contracts, costUsd, yesPrice } = position;
  const valueUsd = yesPrice === null ? null : contracts * sidePrice(side, yesPrice);
  return {
    platform: position.venue,
    market_id: position.marketId,
    title: position.title,
    side,
    contracts,
    entry_price: position.entryPrice,
    cost_usd: cents(costUsd),
    yes_price: yesPrice,
    value_usd: valueUsd === null ? null : cents(valueUsd),
    unrealized_pnl_usd: valueUsd === null ? null : cents(valueUsd - costUsd),
    status: position.status,
    opened_at: toIso(position.openedAt),
  };
}

function presentClosedLot(lot: ClosedLot) {
  return {
    platform: lot.venue,
    market_id: lot.marketId,
    title: lot.title,
    side: lot.side,
    contracts: lot.contracts,
    entry_price: lot.entryPrice,
    cost_usd: cents(lot.costUsd),
    pnl_usd: cents(lot.pnlUsd),
    result: lot.result,
    opened_at: toIso(lot.openedAt),
    closed_at: toIso(lot.closedAt),
  };
}

/** Rounds USD to cents. Adding 0 turns -0 into 0. */
const cents = (usd: number): number => toCents(usd) + 0;
