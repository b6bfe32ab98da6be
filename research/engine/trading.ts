/** Computes what the signals of the engine would have earned. */
import { executableEdges, recommend } from "../../src/engine/index.ts";
import { clusteredRatio, type Interval } from "../../src/quant/clustered-ratio.ts";
import { takerFee } from "../../src/quant/taker-fee.ts";
import type { ScoredSample } from "./samples.ts";

/** Half of the spread assumed around a price without a recorded book. */
export const HALF_SPREAD = 0.01;
/** Fee assumed for a venue whose fee is unknown. */
export const ASSUMED_FEE = { kind: "quadratic", rate: 0.07, exponent: 1 } as const;

export interface Trading {
  /** Samples with a price in money. */
  readonly offers: number;
  readonly signals: number;
  /** USD spent, fees included. */
  readonly cost: number;
  readonly fees: number;
  /** USD earned, net of cost. */
  readonly profit: number;
  /** Profit / cost, with an interval clustered by group; null without signals. */
  readonly profitShare: Interval | null;
}

/**
 * Net profit of one contract per signal, held to the resolution. A signal is a recommendation of the engine: an edge of
 * at least one cent after spread and fee. The book is assumed to be the price plus and minus one cent. An unknown fee
 * is assumed to be 0.07 p (1 - p).
 */
export function simulateTrading(samples: readonly ScoredSample[]): Trading {
  const offered = samples.filter(({ kind }) => kind === "money");
  const trades = offered.flatMap(({ view, market, probability, outcome, group }) => {
    const bid = market - HALF_SPREAD;
    const ask = market + HALF_SPREAD;
    const fee = view.takerFee ?? ASSUMED_FEE;
    const quote = {
      at: view.asOf,
      bid: bid > 0 ? bid : null,
      ask: ask < 1 ? ask : null,
      bidSize: null,
      askSize: null,
      lastPrice: null,
      indicativePrice: null,
    };
    const edges = executableEdges({ ...view, quote, takerFee: fee }, probability);
    const [best] = edges;
    if (best === undefined || recommend(edges) === "NO_TRADE") return [];
    const cost = best.price + best.fee;
    const payout = best.side === "yes" ? outcome : 1 - outcome;
    return [{ group, cost, fee: takerFee(fee, best.price), profit: payout - cost }];
  });
  const sum = (read: (item: (typeof trades)[number]) => number) =>
    trades.reduce((total, item) => total + read(item), 0);
  return {
    offers: offered.length,
    signals: trades.length,
    cost: sum(({ cost }) => cost),
    fees: sum(({ fee }) => fee),
    profit: sum(({ profit }) => profit),
    profitShare: clusteredRatio(
      trades.map(({ group, profit, cost }) => ({ group, numerator: profit, denominator: cost })),
    ),
  };
}
