/** Simulates the profit of the engine's signals. */
import { executableEdges, recommend } from "../../src/engine/index.ts";
import { sumOf } from "../../src/lib/numbers.ts";
import { clusteredRatio } from "../../src/quant/clustered-ratio.ts";
import { takerFee } from "../../src/quant/taker-fee.ts";
import type { EstimatedSample } from "./samples.ts";

/** Half of the assumed bid-ask spread, in USD, because resolved questions have no order book. */
export const ASSUMED_HALF_SPREAD = 0.01;
/** Assumed taker fee of venues whose fee is unknown: 0.07 p (1 - p). */
export const ASSUMED_FEE = { kind: "quadratic", rate: 0.07, exponent: 1 } as const;

/**
 * Computes the net profit of buying one contract per signal and holding it to resolution. A signal is a sample for
 * which the engine recommends a trade: its edge after spread and fee is at least one cent. The assumed bid and ask are
 * the price minus and plus one cent.
 */
export function simulateTrading(samples: readonly EstimatedSample[]) {
  const offered = samples.filter(({ kind }) => kind === "money");
  const trades = offered.flatMap(({ view, market, probability, outcome, group }) => {
    const bid = market - ASSUMED_HALF_SPREAD;
    const ask = market + ASSUMED_HALF_SPREAD;
    const fee = view.takerFee ?? ASSUMED_FEE;
    const quote = { at: view.asOf, bid: bid > 0 ? bid : null, ask: ask < 1 ? ask : null };
    const edges = executableEdges({ ...view, quote, takerFee: fee }, probability);
    const [best] = edges;
    if (best === undefined || recommend(edges) === "NO_TRADE") return [];
    const cost = best.price + best.fee;
    const payout = best.side === "yes" ? outcome : 1 - outcome;
    return [{ group, cost, fee: takerFee(fee, best.price), profit: payout - cost }];
  });
  return {
    /** Number of samples of real-money venues. */
    offers: offered.length,
    signals: trades.length,
    /** USD spent, fees included. */
    cost: sumOf(trades.map(({ cost }) => cost)),
    fees: sumOf(trades.map(({ fee }) => fee)),
    /** Payout minus cost, in USD. */
    profit: sumOf(trades.map(({ profit }) => profit)),
    /** Profit / cost, with an interval clustered by group; null without signals. */
    profitShare: clusteredRatio(
      trades.map(({ group, profit, cost }) => ({ group, numerator: profit, denominator: cost })),
    ),
  };
}
