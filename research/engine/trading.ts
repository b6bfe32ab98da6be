/** Simulates the profit of the engine's signals. */
import { executableEdges, recommend } from "../../src/engine/index.ts";
import { sumOf } from "../../src/lib/numbers.ts";
import { clusteredRatio } from "../../src/quant/clustered-ratio.ts";
import { takerFee } from "../../src/quant/taker-fee.ts";
import type { ScoredSample } from "./samples.ts";

/** Half of the spread assumed around a price without a recorded book. */
export const HALF_SPREAD = 0.01;
/** Fee assumed for a venue whose fee is unknown. */
export const ASSUMED_FEE = { kind: "quadratic", rate: 0.07, exponent: 1 } as const;

/**
 * Net profit of one contract per signal, held to the resolution. A signal is a recommendation of the engine: an edge of
 * at least one cent after spread and fee. The book is assumed to be the price plus and minus one cent. An unknown fee
 * is assumed to be 0.07 p (1 - p).
 */
export function simulateTrading(samples: readonly ScoredSample[]) {
  const offered = samples.filter(({ kind }) => kind === "money");
  const trades = offered.flatMap(({ view, market, probability, outcome, group }) => {
    const bid = market - HALF_SPREAD;
    const ask = market + HALF_SPREAD;
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
    /** Samples with a price in money. */
    offers: offered.length,
    signals: trades.length,
    /** USD spent, fees included. */
    cost: sumOf(trades.map(({ cost }) => cost)),
    fees: sumOf(trades.map(({ fee }) => fee)),
    /** USD earned, net of cost. */
    profit: sumOf(trades.map(({ profit }) => profit)),
    /** Profit / cost, with an interval clustered by group; null without signals. */
    profitShare: clusteredRatio(
      trades.map(({ group, profit, cost }) => ({ group, numerator: profit, denominator: cost })),
    ),
  };
}
