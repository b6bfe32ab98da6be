import { isCrossed } from "../domain/order-book.ts";
import type { Side } from "../domain/price.ts";
import { HOUR_MS } from "../lib/durations.ts";
import { takerFee } from "../quant/taker-fee.ts";
import type { MarketView, QuotePoint } from "./model.ts";

/** Cost of one contract of a side at the best price, and its expected profit. */
export interface ExecutableEdge {
  readonly side: Side;
  /** Price at which the side can be bought, in (0, 1). */
  readonly price: number;
  /** Taker fee in USD per contract. */
  readonly fee: number;
  /** Probability of the side minus price and fee. */
  readonly edge: number;
}

export type Recommendation = "BUY_YES" | "BUY_NO" | "NO_TRADE";

/** Minimum edge after costs for a recommended trade: one cent per contract, the tick of most markets. */
export const EDGE_MIN = 0.01;

/** Market data for `executableEdges`. Only the time, bid and ask of the quote are used. */
export type OfferView = Pick<MarketView, "asOf" | "takerFee" | "kind"> & {
  readonly quote: Pick<QuotePoint, "at" | "bid" | "ask"> | null;
};

/** Maximum time since the last confirmation of an executable quote. */
const QUOTE_AGE_MS_MAX = HOUR_MS;

/**
 * Edge of both sides after the spread and the taker fee, larger edge first. YES: p - (ask + fee). NO: (1 - p) - ((1
 * - bid) + fee). A side without a quote is omitted. Empty for play money, an unknown fee, a crossed
 * order book, and a quote that was last confirmed more than an hour ago.
 *
 * @param probability  estimated probability of YES, in [0, 1]
 */
export function executableEdges(
  { asOf, quote, takerFee: fee, kind }: OfferView,
  probability: number,
): ExecutableEdge[] {
  if (quote === null || fee === null || kind !== "money" || isCrossed(quote.bid, quote.ask)) return [];
  if (asOf - quote.at > QUOTE_AGE_MS_MAX) return [];
  const offers = [
    { side: "yes" as const, price: quote.ask, probability },
    { side: "no" as const, price: quote.bid === null ? null : 1 - quote.bid, probability: 1 - probability },
  ];
  return offers
    .flatMap(({ side, price, probability: wins }) => {
      if (price === null) return [];
      const cost = takerFee(fee, price);
      return [{ side, price, fee: cost, edge: wins - (price + cost) }];
    })
    .sort((a, b) => b.edge - a.edge);
}

/** Recommends the side whose edge after costs is at least 0.01. */
export function recommend([best]: readonly ExecutableEdge[]): Recommendation {
  if (best === undefined || best.edge < EDGE_MIN) return "NO_TRADE";
  return best.side === "yes" ? "BUY_YES" : "BUY_NO";
}
