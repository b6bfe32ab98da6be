/** Renders the result of a backtest as tables, JSON and HTML. */

import { escapeHtml } from "../../src/lib/escape-html.ts";
import type { ConfidenceInterval } from "../../src/quant/clustered-ratio.ts";
import { type DayTotals, REFERENCE_BANKROLL_USD, utcDate } from "../../src/trading/index.ts";
import { renderPage } from "../engine/report-html.ts";
import { formatInterval, formatNumber, type ReportSection } from "../report.ts";
import { VIEW_LIMITATIONS } from "./market-view.ts";
import type { BacktestOptions } from "./options.ts";
import { renderProfitChart } from "./profit-chart.ts";
import type { BacktestResult, TradeGroup } from "./result.ts";

const percent = (share: number | null): string => (share === null ? "–" : `${formatNumber(100 * share, 1)}%`);
const usd = (value: number | null): string => formatNumber(value, 2);
const roiOf = ({ totals }: TradeGroup): string =>
  totals.resolvedTrades === 0 ? "–" : `${formatNumber((100 * totals.resolvedPnlUsd) / totals.resolvedCostUsd, 1)}%`;

/** Returns a sentence with the total profit or loss. */
function describeOutcome({ performance }: BacktestResult): string {
  const { totalTrades, totalPnlUsd } = performance;
  if (totalTrades === 0) return "The signals made no trade in this period.";
  const trades = `${totalTrades} ${totalTrades === 1 ? "trade" : "trades"}`;
  if (totalPnlUsd === 0) return `${trades} neither earned nor lost money after fees.`;
  return `${trades} ${totalPnlUsd > 0 ? "earned" : "LOST"} ${usd(Math.abs(totalPnlUsd))} USD after fees.`;
}

/** @param notes  limitations of the source, as sentences */
export function describeResult(
  result: BacktestResult,
  options: BacktestOptions,
  notes: readonly string[],
): ReportSection[] {
  const { performance, scores } = result;
  const { counts } = result;
  const rows: [string, string | number][] = [
    ["period", `${utcDate(options.from)} to ${utcDate(options.to - 1)}`],
    ["markets analysed", result.markets],
    ["analyses", counts.analyses],
    ["analyses with a market of another venue", counts.analysesWithPeers],
    ["signals: analyses that recommend a trade", counts.signals],
    ["signals without any offer of known size", counts.signalsWithoutBook],
    ["trades", performance.totalTrades],
    ["markets traded", result.tradedMarkets],
    ["resolved trades", performance.resolvedTrades],
    ["win rate", percent(performance.winRate)],
    ["profit or loss after fees, USD", usd(performance.totalPnlUsd)],
    ["fees, USD", usd(result.feesUsd)],
    ["spent, USD", usd(result.costUsd)],
    [
      "return on the cost of resolved trades",
      performance.roiPct === null ? "–" : `${formatNumber(performance.roiPct, 2)}%`,
    ],
    ["Sharpe ratio of the days, per year", formatNumber(performance.sharpeRatio, 2)],
    ["largest drawdown, USD", usd(performance.maxDrawdownUsd)],
  ];
  return [
    {
      title: "Result",
      text: [
        describeOutcome(result),
        `Each signal is sized for a bankroll of ${REFERENCE_BANKROLL_USD} USD: a quarter of the Kelly fraction, at most a tenth. A market can be bought again at every signal, as in the service's own track record. Open trades are valued at their last price. A Sharpe ratio needs 30 days.`,
      ],
      header: ["", "value"],
      rows,
    },
    {
      title: "Expected and realised profit",
      text: ["USD per contract of the resolved trades, after fees. The interval is bootstrapped over markets."],
      header: ["expected edge", "realised profit", "95% interval"],
      rows: [
        [
          formatNumber(result.promisedEdge, 4),
          formatNumber(result.realisedEdge?.value, 4),
          formatInterval(result.realisedEdge, 4),
        ],
      ],
    },
    describeParts("By venue", result.byVenue),
    describeParts("By category", result.byCategory),
    {
      title: "Brier scores",
      text: [
        "Estimate and price at the same times, of markets that resolved YES or NO in the period. A difference below 0: the estimate is better than the price.",
      ],
      header: ["analyses", "markets", "ours", "of the price", "difference", "95% interval"],
      rows: [
        [
          scores.moments,
          scores.markets,
          formatNumber(scores.ours, 5),
          formatNumber(scores.price, 5),
          formatNumber(scores.difference?.value, 6),
          formatInterval(scores.difference, 6),
        ],
      ],
    },
    { title: "What is not modelled", text: [...notes, ...VIEW_LIMITATIONS, ...EXECUTION_GAPS], header: [], rows: [] },
  ];
}

const EXECUTION_GAPS: readonly string[] = [
  "A trade is filled at once from the known offers. Own orders do not change later books, and there is no delay.",
  "The coefficients are the shipped ones. A period that they were fitted to is no test out of sample.",
];

function describeParts(title: string, parts: readonly TradeGroup[]): ReportSection {
  return {
    title,
    text: parts.length === 0 ? ["There are no trades."] : [],
    header:
      parts.length === 0 ? [] : ["", "trades", "resolved", "win rate", "profit or loss, USD", "fees, USD", "return"],
    rows: parts.map((part) => {
      const { totalTrades, resolvedTrades, wonTrades } = part.totals;
      const winRate = resolvedTrades === 0 ? null : wonTrades / resolvedTrades;
      const [pnl, fees] = [usd(part.pnlUsd), usd(part.feesUsd)];
      return [part.name, totalTrades, resolvedTrades, percent(winRate), pnl, fees, roiOf(part)];
    }),
  };
}

/** Returns all figures, named as in the service's API. */
export function backtestToJson(result: BacktestResult, options: BacktestOptions, notes: readonly string[]): object {
  return {
    ...summariseResult(result, options),
    by_venue: result.byVenue.map(partToJson),
    by_category: result.byCategory.map(partToJson),
    days: result.days.map(dayToJson),
    not_modelled: [...notes, ...VIEW_LIMITATIONS, ...EXECUTION_GAPS],
  };
}

/** Returns the figures that the command prints on its last line. */
export function summariseResult(result: BacktestResult, { from, to, everyMs, marketsMax }: BacktestOptions): object {
  const { performance, scores, counts } = result;
  return {
    from: utcDate(from),
    to: utcDate(to),
    every_minutes: everyMs / 60_000,
    markets_max: marketsMax,
    markets: result.markets,
    analyses: counts.analyses,
    analyses_with_peers: counts.analysesWithPeers,
    signals: counts.signals,
    signals_without_book: counts.signalsWithoutBook,
    traded_markets: result.tradedMarkets,
    trades: performance.totalTrades,
    resolved: performance.resolvedTrades,
    win_rate: performance.winRate,
    pnl_usd: performance.totalPnlUsd,
    fees_usd: result.feesUsd,
    cost_usd: result.costUsd,
    roi_pct: performance.roiPct,
    sharpe_ratio: performance.sharpeRatio,
    max_drawdown_usd: performance.maxDrawdownUsd,
    promised_edge: result.promisedEdge,
    realised_edge: result.realisedEdge?.value ?? null,
    realised_edge_ci: boundsOf(result.realisedEdge),
    brier: {
      moments: scores.moments,
      markets: scores.markets,
      ours: scores.ours,
      market: scores.price,
      diff: scores.difference?.value ?? null,
      diff_ci: boundsOf(scores.difference),
    },
  };
}

/** Infinite bounds become null, because JSON cannot represent them. The interval of a single market is unbounded. */
const boundsOf = (value: ConfidenceInterval | null): (number | null)[] | null =>
  value === null ? null : [value.low, value.high].map((bound) => (Number.isFinite(bound) ? bound : null));

const partToJson = ({ name, totals, pnlUsd, feesUsd }: TradeGroup): object => ({
  name,
  trades: totals.totalTrades,
  resolved: totals.resolvedTrades,
  won: totals.wonTrades,
  pnl_usd: pnlUsd,
  fees_usd: feesUsd,
  resolved_cost_usd: totals.resolvedCostUsd,
  resolved_pnl_usd: totals.resolvedPnlUsd,
});

const dayToJson = (day: DayTotals): object => ({
  date: day.date,
  pnl_usd: day.pnlUsd,
  entered_trades: day.enteredTrades,
  resolved_trades: day.resolvedTrades,
  won_trades: day.wonTrades,
});

export function renderBacktestHtml(result: BacktestResult, options: BacktestOptions, notes: readonly string[]): string {
  return renderPage({
    title: "Backtest of the signals",
    introduction: `<p>${escapeHtml(options.source.kind)} ${escapeHtml(options.source.location)}</p>${renderProfitChart(result.days)}`,
    sections: describeResult(result, options, notes),
  });
}
