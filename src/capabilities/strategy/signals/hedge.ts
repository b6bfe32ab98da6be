import type { BoardMarket } from "../../../board/index.ts";
import { buyLimitPrice } from "../../../domain/order-rules.ts";
import { complement, type Side } from "../../../domain/price.ts";
import { formatOrderPrice } from "../../../engine/index.ts";
import type { Signal } from "../../../trading/index.ts";
import { type LogicalRelation, outcomeCorrelation, type RelatedMarket } from "../../markets/relations/index.ts";

/** Minimum absolute correlation of outcomes for a hedge. A weaker hedge is not worth its costs. */
const CORRELATION_MIN = 0.3;

const REASONS: Readonly<Record<LogicalRelation, string>> = {
  same: "it asks the same question",
  opposite: "it asks the opposite question",
  exclusive: "at most one of the two resolves YES",
  implies: "its YES implies this one's YES",
  implied: "this one's YES implies its YES",
};

/**
 * Describes the best hedge of a signal: the trade in a related market with the most negative payout correlation, at the
 * price of `hedgePriceOf`.
 *
 * @param related  liquid markets that are related to the signal's market
 * @param probabilityOf  estimated probability of YES of a market, else its price; null if unknown
 * @returns  a sentence; null without a trade, and if no related market has a correlation of at least 0.3
 */
export function describeHedge(
  { recommendation, probability }: Pick<Signal, "recommendation" | "probability">,
  related: readonly RelatedMarket[],
  probabilityOf: (market: BoardMarket) => number | null,
): string | null {
  if (recommendation === "NO_TRADE") return null;
  const hedges = related.flatMap(({ market, ...known }) => {
    const other = probabilityOf(market);
    const correlation = other === null ? null : outcomeCorrelation(known, probability, other);
    if (correlation === null || Math.abs(correlation) < CORRELATION_MIN) return [];
    const hasSameSide = correlation < 0;
    const side: Side = hasSameSide === (recommendation === "BUY_YES") ? "yes" : "no";
    const price = hedgePriceOf(market, side);
    return price === null ? [] : [{ market, side, price, correlation, dependence: known.dependence }];
  });
  const [best] = hedges.sort((a, b) => Math.abs(b.correlation) - Math.abs(a.correlation));
  if (best === undefined) return null;
  const { market, side, price, correlation, dependence } = best;
  const { title, venue } = market.listing;
  const reason =
    dependence === null
      ? `the correlation of the answers is ${correlation.toFixed(2)}, from the price moves of 30 days`
      : REASONS[dependence];
  return `Buy ${side.toUpperCase()} of "${title}" on ${venue} at ${formatOrderPrice(price)}: ${reason}.`;
}

/**
 * Price of a limit order that buys a side at its best offer, on the price grid of the market.
 *
 * @returns  in (0, 1); null without an offer, or if the grid has no such price
 */
export function hedgePriceOf({ listing, quote: { bid, ask } }: BoardMarket, side: Side): number | null {
  const offer = side === "yes" ? ask : bid === null ? null : complement(bid);
  return offer === null ? null : buyLimitPrice(listing.priceRanges, side, offer);
}
