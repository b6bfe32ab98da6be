/** Computes the profit of a replay with the same functions as the service's track record. */

import { type ConfidenceInterval, clusteredRatio, type RatioTerm } from "../../src/quant/clustered-ratio.ts";
import {
  type DayTotals,
  type Performance,
  replayTradeHistory,
  summarisePerformance,
  sumTrades,
  sumUsd,
  type TradeResult,
  type TradeTotals,
  utcDate,
} from "../../src/trading/index.ts";
import {
  type BacktestTrade,
  type MarketEstimates,
  marketKeyOf,
  type ReplayCounts,
  type ReplayRecord,
} from "./replay.ts";

/** The trades of one venue or category. */
export interface TradeGroup {
  readonly name: string;
  readonly totals: TradeTotals;
  /** Profit or loss in USD. Open trades are marked to market at their last price. */
  readonly pnlUsd: number;
  readonly feesUsd: number;
}

/** Brier scores of the estimates and of the market prices at the same times, over markets that resolved YES or NO. */
export interface Scores {
  readonly moments: number;
  readonly markets: number;
  /** Score of the estimates; null without estimates. */
  readonly ours: number | null;
  /** Score of the market prices; null without estimates. */
  readonly price: number | null;
  /** `ours` minus `price`, so below 0 is better, with a 95% interval clustered by market. */
  readonly difference: ConfidenceInterval | null;
}

export interface BacktestResult {
  /** Number of markets that were analysed. */
  readonly markets: number;
  readonly counts: ReplayCounts;
  /** Number of markets with at least one trade. */
  readonly tradedMarkets: number;
  readonly performance: Performance;
  readonly feesUsd: number;
  /** Cost of all trades in USD, fees included. */
  readonly costUsd: number;
  /** Expected edge of the resolved trades in USD per contract; null without resolved trades. */
  readonly promisedEdge: number | null;
  /**
   * Profit of the resolved trades in USD per contract, 95% interval clustered by market; null without resolved trades.
   */
  readonly realisedEdge: ConfidenceInterval | null;
  readonly byVenue: readonly TradeGroup[];
  readonly byCategory: readonly TradeGroup[];
  readonly scores: Scores;
  readonly days: readonly DayTotals[];
}

/** @param to  end of the period, Unix milliseconds: midnight UTC */
export function computeBacktestResult(record: ReplayRecord, to: number): BacktestResult {
  const { trades, marks, settlements, estimates } = record;
  const { results, days } = replayTradeHistory(trades, marks, settlements, utcDate(to - 1));
  const resolved = trades.flatMap((trade, index) => {
    const result = results[index];
    return result === undefined || result.settledAt === null ? [] : [{ trade, result }];
  });
  const perContract = (numeratorOf: (entry: (typeof resolved)[number]) => number): ConfidenceInterval | null =>
    clusteredRatio(
      resolved.map((entry) => ({
        group: marketKeyOf(entry.trade),
        numerator: numeratorOf(entry),
        denominator: entry.trade.contracts,
      })),
    );
  return {
    markets: estimates.length,
    counts: record.counts,
    tradedMarkets: new Set(trades.map(marketKeyOf)).size,
    performance: summarisePerformance(sumTrades(trades, results), days),
    feesUsd: sumUsd(trades.map(({ feeUsd }) => feeUsd)),
    costUsd: sumUsd(results.map(({ costUsd }) => costUsd)),
    promisedEdge: perContract(({ trade }) => trade.edge * trade.contracts)?.value ?? null,
    realisedEdge: perContract(({ result }) => result.pnlUsd),
    byVenue: splitTrades(trades, results, ({ venue }) => venue),
    byCategory: splitTrades(trades, results, ({ category }) => category ?? "unknown"),
    scores: scoreEstimates(record),
    days,
  };
}

function splitTrades(
  trades: readonly BacktestTrade[],
  results: readonly TradeResult[],
  nameOf: (trade: BacktestTrade) => string,
): TradeGroup[] {
  const resultOf = new Map(results.map((result) => [result.tradeId, result]));
  return [...Map.groupBy(trades, nameOf)]
    .map(([name, members]): TradeGroup => {
      const own = members.flatMap(({ tradeId }) => resultOf.get(tradeId) ?? []);
      return {
        name,
        totals: sumTrades(members, own),
        pnlUsd: sumUsd(own.map(({ pnlUsd }) => pnlUsd)),
        feesUsd: sumUsd(members.map(({ feeUsd }) => feeUsd)),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sum over p of (p - y)^2, computed as sum(p^2) - 2 y sum(p) + n y^2, where y is the outcome. */
const squaredErrors = ({ sum, squares }: MarketEstimates["ours"], count: number, outcome: number): number =>
  squares - 2 * outcome * sum + count * outcome ** 2;

function scoreEstimates({ estimates, settlements }: ReplayRecord): Scores {
  // `new Map` keeps the last settlement of each market, which corrects earlier ones.
  const outcomes = new Map(settlements.map((settlement) => [marketKeyOf(settlement), settlement.value]));
  const scored = estimates.flatMap((market) => {
    const outcome = outcomes.get(marketKeyOf(market)) ?? null;
    if (outcome !== 0 && outcome !== 1) return [];
    const { count } = market;
    const ours = squaredErrors(market.ours, count, outcome);
    const price = squaredErrors(market.price, count, outcome);
    return [{ group: marketKeyOf(market), count, ours, price }];
  });
  const termsOf = (numeratorOf: (row: (typeof scored)[number]) => number): RatioTerm[] =>
    scored.map((row) => ({ group: row.group, numerator: numeratorOf(row), denominator: row.count }));
  return {
    moments: scored.reduce((sum, { count }) => sum + count, 0),
    markets: scored.length,
    ours: clusteredRatio(termsOf(({ ours }) => ours))?.value ?? null,
    price: clusteredRatio(termsOf(({ price }) => price))?.value ?? null,
    difference: clusteredRatio(termsOf(({ ours, price }) => ours - price)),
  };
}
