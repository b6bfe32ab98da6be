import type { BoardMarket } from "../../../board/index.ts";
import { settlementValueOf } from "../../../domain/market.ts";
import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";
import { toCents } from "../../../domain/usd.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import { type DailyPriceRange, readDailyPrices } from "../../../storage/index.ts";
import {
  type DailyMark,
  type Lot,
  lotPerformance,
  matchLots,
  openPositions,
  type Settlement,
  summarisePerformance,
  type Trade,
} from "../../../trading/index.ts";
import { selectReportsOf } from "../../markets/consensus/index.ts";
import type { MarketDependencies } from "../../markets/ports.ts";
import {
  CLOSED_TRADES_MAX,
  MARKET_DAYS_MAX,
  PAPER_TRADES_MAX,
  POSITIONS_MAX,
  type PortfolioMode,
  REPORTS_READ_MAX,
} from "./model.ts";
import { type ClosedLot, presentClosedLot, presentPosition } from "./present.ts";
import { selectPaperTrades, selectSettlements, selectTitles } from "./queries.ts";
import type { Portfolio } from "./schema.ts";

type PortfolioDependencies = Pick<MarketDependencies, "database" | "board" | "clock">;

export type PortfolioService = ReturnType<typeof createPortfolioService>;

/** Computes the positions and the profit of a customer from the customer's trades. */
export function createPortfolioService({ database, board, clock }: PortfolioDependencies) {
  const findMarket = ({ venue, marketId }: MarketRef): BoardMarket | null => board.find(venue, marketId);

  /** Returns the newest trades of a customer, plus one more trade if older trades exist. */
  const readTrades = async (customerId: string, mode: PortfolioMode): Promise<readonly Trade[]> => {
    if (mode === "shadow") {
      const trades = await selectPaperTrades(database, customerId, PAPER_TRADES_MAX + 1);
      return trades.map(({ enteredAt, ...trade }) => ({ ...trade, edge: null, at: enteredAt }));
    }
    const reports = await selectReportsOf(database, customerId, REPORTS_READ_MAX + 1);
    return reports.map(({ reportId, reportedAt, sizeUsd, ...report }) => ({
      ...report,
      tradeId: String(reportId),
      contracts: sizeUsd / report.price,
      // Reported trades have no fee.
      feeUsd: 0,
      edge: null,
      at: reportedAt.getTime(),
    }));
  };

  /**
   * Returns the stored settlements of the markets. For a market without a stored settlement, returns its result on the
   * board, if known.
   */
  const readSettlements = async (markets: readonly MarketRef[], now: number): Promise<Settlement[]> => {
    const stored = await selectSettlements(database, markets);
    const storedMarkets = new Set(stored.map(formatMarketRef));
    const onBoard = markets.flatMap((market): Settlement[] => {
      if (storedMarkets.has(formatMarketRef(market))) return [];
      const found = findMarket(market);
      const { status, outcome, resolvedAt } = found?.listing ?? { status: "active", outcome: null, resolvedAt: null };
      if (found === null || status !== "finalized" || outcome === null) return [];
      const value = settlementValueOf(outcome);
      // A payout outside [0, 1] is an error of the venue.
      if (value !== null && !(value >= 0 && value <= 1)) return [];
      const at = Math.min(now, resolvedAt ?? found.updatedAt);
      return [{ venue: market.venue, marketId: market.marketId, at, value }];
    });
    return [...stored, ...onBoard];
  };

  const readLots = async (customerId: string, mode: PortfolioMode, now: number) => {
    const newestFirst = await readTrades(customerId, mode);
    const limit = mode === "shadow" ? PAPER_TRADES_MAX : REPORTS_READ_MAX;
    const trades = newestFirst.slice(0, limit).reverse();
    const markets = [...new Map(trades.map((trade) => [formatMarketRef(trade), trade])).values()];
    const lots = matchLots(trades, await readSettlements(markets, now));
    return { lots, isTruncated: newestFirst.length > limit };
  };

  /** Returns the stored price of each market at every midnight with open lots, and the current prices of open lots. */
  const readMarks = async (lots: readonly Lot[], now: number): Promise<DailyMark[]> => {
    const current = openPositions(lots).flatMap(({ venue, marketId }): DailyMark[] => {
      const yesPrice = board.find(venue, marketId)?.yesPrice ?? null;
      return yesPrice === null ? [] : [{ venue, marketId, at: now, yesPrice }];
    });
    return [...(await readDailyPrices(database, planMarks(lots, now))), ...current];
  };

  const measure = async (lots: readonly Lot[], now: number) => {
    // The last day is the current one.
    const { days, totals } = lotPerformance(lots, await readMarks(lots, now), now);
    return { days, performance: summarisePerformance(totals, days, days.slice(0, -1)) };
  };

  const readTitles = async (markets: readonly MarketRef[]): Promise<(market: MarketRef) => string | null> => {
    const missing = new Map(
      markets.filter((market) => findMarket(market) === null).map((market) => [formatMarketRef(market), market]),
    );
    const rows = missing.size === 0 ? [] : await selectTitles(database, [...missing.values()]);
    const titles = new Map(rows.map((row) => [formatMarketRef(row), row.title]));
    return (market) => findMarket(market)?.listing.title ?? titles.get(formatMarketRef(market)) ?? null;
  };

  return {
    /** Returns the daily profit of a customer's reported trades. Reports contain no fees. */
    async livePerformance(customerId: string) {
      const now = clock.now();
      const { lots, isTruncated } = await readLots(customerId, "live", now);
      return { ...(await measure(lots, now)), firstTradeAt: lots[0]?.at ?? null, isTruncated };
    },

    async getPortfolio(customerId: string, mode: PortfolioMode): Promise<Portfolio> {
      const now = clock.now();
      const { lots, isTruncated } = await readLots(customerId, mode, now);
      const { performance } = await measure(lots, now);
      const positions = openPositions(lots).reverse();
      const listed = positions.slice(0, POSITIONS_MAX);
      const closed = newestClosed(lots);
      const titleOf = await readTitles([...listed, ...closed]);
      return {
        mode,
        positions: listed.map((position) => presentPosition(position, findMarket(position), titleOf(position))),
        position_count: positions.length,
        closed: closed.map((lot) => presentClosedLot(lot, titleOf(lot))),
        summary: {
          total_trades: performance.totalTrades,
          resolved_trades: performance.resolvedTrades,
          win_rate: performance.winRate,
          total_pnl: toCents(performance.totalPnlUsd),
          roi_pct: performance.roiPct,
          avg_edge: performance.averageEdge,
          max_drawdown: toCents(performance.maxDrawdownUsd),
          sharpe_ratio: performance.sharpeRatio,
        },
        truncated: isTruncated,
        generated_at: toIso(now),
      };
    },
  };
}

const newestClosed = (lots: readonly Lot[]): ClosedLot[] =>
  lots
    .filter((lot): lot is ClosedLot => lot.resolvedAt !== null)
    .sort((a, b) => b.resolvedAt - a.resolvedAt || b.at - a.at)
    .slice(0, CLOSED_TRADES_MAX);

/**
 * Returns for each market the range of midnights from its first purchase to the end of its last open lot. The ranges
 * have at most `MARKET_DAYS_MAX` midnights in total; markets with the latest midnights take precedence.
 */
function planMarks(lots: readonly Lot[], now: number): DailyPriceRange[] {
  const ranges = new Map<string, { venue: string; marketId: string; from: number; to: number }>();
  for (const { venue, marketId, at, resolvedAt } of lots) {
    const key = formatMarketRef({ venue, marketId });
    const range = ranges.get(key) ?? { venue, marketId, from: at, to: 0 };
    ranges.set(key, {
      ...range,
      from: Math.min(range.from, at),
      to: Math.max(range.to, Math.min(resolvedAt ?? now, now)),
    });
  }
  let rest = MARKET_DAYS_MAX;
  const planned: DailyPriceRange[] = [];
  for (const { venue, marketId, from, to } of [...ranges.values()].sort((a, b) => b.to - a.to || b.from - a.from)) {
    const lastMidnight = Math.floor(to / DAY_MS) * DAY_MS;
    const firstMidnight = Math.max((Math.floor(from / DAY_MS) + 1) * DAY_MS, lastMidnight - (rest - 1) * DAY_MS);
    const days = (lastMidnight - firstMidnight) / DAY_MS + 1;
    if (rest === 0) break;
    if (days < 1) continue;
    rest -= days;
    planned.push({ venue, marketId, firstMidnight, lastMidnight });
  }
  return planned;
}
