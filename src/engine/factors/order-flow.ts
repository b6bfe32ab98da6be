import type { Side } from "../../domain/price.ts";
import { HOUR_MS } from "../../lib/durations.ts";
import { formatNumber, formatPercent } from "../format.ts";
import type { BookView, Factor, TradePoint } from "../model.ts";

const TRADES_MS = 24 * HOUR_MS;
const TRADES_MIN = 5;
/** A trade is large if its size is at least this multiple of the median. */
const LARGE_TRADE = 5;
/** Maximum distance of compared orders from the mid, in price. */
const BOOK_DEPTH = 0.05;
/** Maximum age of the order book. */
const BOOK_AGE_MS_MAX = HOUR_MS;

interface Imbalance {
  /** In [-1, 1]; above 0 if buyers of YES prevail. */
  readonly value: number;
  readonly evidence: string;
}

/**
 * Order imbalance: the weighted mean of up to three imbalances (b - a) / (b + a), each in [-1, 1]: trades of the last
 * 24 hours by the side that the taker bought, large trades alone, and orders of the book within 5 cents of the mid. The
 * weights are fitted.
 *
 * lambda = mean imbalance * standard error of the prior's log-odds (half of the spread), so that the factor moves the
 * price within the spread. confidence = sum of the weights of the imbalances that are known.
 *
 * @see Kyle (1985), "Continuous Auctions and Insider Trading", Econometrica 53(6)
 * @see Easley, Lopez de Prado & O'Hara (2012), "Flow Toxicity and Liquidity", Review of Financial Studies 25(5)
 */
export const orderFlow: Factor = {
  name: "order_flow",
  evaluate({ trades, book, asOf }, prior, { orderFlow: shares }) {
    const recent = trades.filter(({ at, takerSide }) => at > asOf - TRADES_MS && takerSide !== null);
    const imbalances = [
      { share: shares.trades, imbalance: imbalanceOfTrades(recent) },
      { share: shares.largeTrades, imbalance: imbalanceOfLargeTrades(recent) },
      { share: shares.book, imbalance: imbalanceOfBook(book, asOf) },
    ].flatMap(({ share, imbalance }) => (imbalance === null || share === 0 ? [] : [{ ...imbalance, share }]));
    const confidence = imbalances.reduce((sum, { share }) => sum + share, 0);
    const mean = imbalances.reduce((sum, { share, value }) => sum + share * value, 0) / confidence;
    if (imbalances.length === 0 || mean === 0) return null;
    return {
      claim: `Trades and orders lean ${formatPercent(Math.abs(mean))}% towards ${mean > 0 ? "YES" : "NO"}.`,
      evidence: imbalances.map(({ evidence }) => evidence),
      lambda: mean * prior.standardError,
      standardError: prior.standardError,
      confidence,
    };
  },
};

function imbalanceOfTrades(trades: readonly TradePoint[]): Imbalance | null {
  if (trades.length < TRADES_MIN) return null;
  return imbalanceOf(sizeOf(trades, "yes"), sizeOf(trades, "no"), `${trades.length} trades of 24 hours`);
}

function imbalanceOfLargeTrades(trades: readonly TradePoint[]): Imbalance | null {
  if (trades.length < TRADES_MIN) return null;
  const sizes = trades.map(({ size }) => size).sort((a, b) => a - b);
  const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
  const large = trades.filter(({ size }) => size >= LARGE_TRADE * median);
  return imbalanceOf(sizeOf(large, "yes"), sizeOf(large, "no"), `${large.length} large trades of 24 hours`);
}

function imbalanceOfBook(book: BookView | null, asOf: number): Imbalance | null {
  const bid = book?.bids[0]?.price;
  const ask = book?.asks[0]?.price;
  if (book === null || bid === undefined || ask === undefined || bid >= ask || asOf - book.at > BOOK_AGE_MS_MAX)
    return null;
  const mid = (bid + ask) / 2;
  const sizeNear = (levels: BookView["bids"]): number =>
    levels.reduce((sum, { price, size }) => sum + (Math.abs(price - mid) <= BOOK_DEPTH ? size : 0), 0);
  return imbalanceOf(sizeNear(book.bids), sizeNear(book.asks), "the orders within 5¢ of the mid");
}

const sizeOf = (trades: readonly TradePoint[], side: Side): number =>
  trades.reduce((sum, trade) => sum + (trade.takerSide === side ? trade.size : 0), 0);

/** (b - a) / (b + a); null if both are 0. */
function imbalanceOf(buys: number, sells: number, source: string): Imbalance | null {
  if (buys + sells <= 0) return null;
  const value = (buys - sells) / (buys + sells);
  return { value, evidence: `Imbalance of ${source}: ${formatNumber(value)}.` };
}
