import type { BoardMarket } from "../../../board/index.ts";
import { validResolutionTime } from "../../../domain/close-time.ts";
import { type TakerFee, yesPrice } from "../../../domain/market.ts";
import { type BookLevel, isCrossed, type OrderBook, offersOf } from "../../../domain/order-book.ts";
import { complement, fromMicros, type Side, spreadOf, toMicros } from "../../../domain/price.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { MarketPair, MatchRelation } from "../../../matching/index.ts";
import {
  type ArbitrageWalk,
  annualizedReturn,
  netSpread,
  scoreArbitrage,
  walkArbitrage,
} from "../../../quant/arbitrage.ts";
import {
  type CrossVenueOpportunity,
  type MarketQuotes,
  type OpportunityFigures,
  type OpportunityLeg,
  QUOTE_AGE_MS_MAX,
  type QuotedLevel,
  type RefreshFailure,
} from "./model.ts";

/** Maximum number of price levels read from each side of an order book. */
const LEVELS_MAX = 200;

/** Best bid and ask of a tradable market. */
export interface TopOfBook {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly yesPrice: number | null;
  readonly fee: TakerFee;
}

export interface PairSpread {
  /** YES prices of `a` and `b`; for the relation `inverse`, the second is 1 minus the YES price of `b`. */
  readonly yesPrices: readonly [number, number];
  readonly spread: number;
  /** The sides to buy of `a` and `b`: the more profitable of the two combinations. */
  readonly sides: readonly [Side, Side];
  readonly netSpread: number;
}

const COMBINATIONS: Readonly<Record<"identical" | "inverse", readonly (readonly [Side, Side])[]>> = {
  identical: [
    ["yes", "no"],
    ["no", "yes"],
  ],
  inverse: [
    ["yes", "yes"],
    ["no", "no"],
  ],
};

/** Whether the market accepts orders and its taker fee is known. */
export function canTrade({ listing }: BoardMarket): boolean {
  return listing.status === "active" && !listing.paused && listing.takerFee !== null;
}

/** Returns the best bid and ask of a market; null if the market cannot be traded. */
export const topOfBookOf = (market: BoardMarket): TopOfBook | null => topOfQuotes(quotesOf(market));

/** Best offer of a side; null without an offer. */
function priceOf({ bid, ask }: TopOfBook, side: Side): number | null {
  if (side === "yes") return ask;
  return bid === null ? null : complement(bid);
}

/**
 * Compares the best prices of two markets. Returns null if the relation is not a match, if a price is unknown, if an
 * order book is crossed, or if no combination of contracts is offered.
 */
export function comparePrices(relation: MatchRelation, a: TopOfBook, b: TopOfBook): PairSpread | null {
  if (relation !== "identical" && relation !== "inverse") return null;
  if (a.yesPrice === null || b.yesPrice === null || isCrossed(a.bid, a.ask) || isCrossed(b.bid, b.ask)) return null;
  let best: Pick<PairSpread, "sides" | "netSpread"> | null = null;
  for (const sides of COMBINATIONS[relation]) {
    const prices = [priceOf(a, sides[0]), priceOf(b, sides[1])] as const;
    if (prices[0] === null || prices[1] === null) continue;
    const net = netSpread(
      [
        { price: prices[0], fee: a.fee },
        { price: prices[1], fee: b.fee },
      ],
      1,
    );
    if (best === null || net > best.netSpread) best = { sides, netSpread: net };
  }
  if (best === null) return null;
  const yesPrices = [a.yesPrice, relation === "inverse" ? complement(b.yesPrice) : b.yesPrice] as const;
  return { yesPrices, spread: fromMicros(Math.abs(toMicros(yesPrices[0]) - toMicros(yesPrices[1]))), ...best };
}

const levelsOf = (price: number | null, size: number | null): QuotedLevel[] =>
  price === null ? [] : [{ price, size: size !== null && size > 0 && size < Infinity ? size : null }];

/** Returns the best bid and ask of a market on the board. */
export function quotesOf(market: BoardMarket, refreshFailure: RefreshFailure | null = null): MarketQuotes {
  const { quote, yesPrice: price, updatedAt } = market;
  return {
    market,
    bids: levelsOf(quote.bid, quote.bidSize),
    asks: levelsOf(quote.ask, quote.askSize),
    yesPrice: price,
    depth: "top_of_book",
    at: updatedAt,
    refreshFailure,
  };
}

/** Returns the quotes of an order book. The last price of the book, if known, replaces the last price of the board. */
export function quotesOfBook(market: BoardMarket, book: OrderBook): MarketQuotes {
  const bids = book.bids.slice(0, LEVELS_MAX);
  const asks = book.asks.slice(0, LEVELS_MAX);
  const price = yesPrice({
    bid: bids[0]?.price ?? null,
    ask: asks[0]?.price ?? null,
    lastPrice: book.lastPrice ?? market.quote.lastPrice,
    indicativePrice: null,
  });
  return { market, bids, asks, yesPrice: price, depth: "order_book", at: book.receivedAt, refreshFailure: null };
}

/**
 * Computes the opportunity of a pair from the quotes of its markets. Returns null if a market cannot be traded, if an
 * order book is stale or crossed, or if no combination of contracts is offered.
 *
 * @param now  Unix milliseconds
 */
export function describePair(
  pair: MarketPair,
  a: MarketQuotes,
  b: MarketQuotes,
  now: number,
): CrossVenueOpportunity | null {
  const topA = topOfQuotes(a);
  const topB = topOfQuotes(b);
  if (topA === null || topB === null || isQuoteStale(a, now) || isQuoteStale(b, now)) return null;
  const prices = comparePrices(pair.relation, topA, topB);
  if (prices === null) return null;
  const { yesPrices, spread, sides } = prices;
  const legs = [createLeg(a, topA.fee, sides[0]), createLeg(b, topB.fee, sides[1])];
  return {
    pair,
    markets: [
      { quotes: a, yesPrice: yesPrices[0] },
      { quotes: b, yesPrice: yesPrices[1] },
    ],
    cheaperOn: (yesPrices[0] <= yesPrices[1] ? a : b).market.listing.venue,
    ...describeLegs(legs, { payout: 1, spread, matchConfidence: pair.confidence }, now),
  };
}

/** Whether the last confirmation of the quotes is older than `QUOTE_AGE_MS_MAX`. */
export const isQuoteStale = ({ at }: Pick<MarketQuotes, "at">, now: number): boolean => now - at > QUOTE_AGE_MS_MAX;

export function createLeg(quotes: MarketQuotes, fee: TakerFee, side: Side): OpportunityLeg {
  return { quotes, fee, side, offers: offersOf(quotes, side) };
}

/**
 * Computes the figures of buying one contract of each leg.
 *
 * @param payout  guaranteed payout in USD of one contract of each leg
 */
export function describeLegs(
  legs: readonly OpportunityLeg[],
  { payout, spread, matchConfidence }: { payout: number; spread: number; matchConfidence: number },
  now: number,
): OpportunityFigures {
  const best = legs.map(({ offers, fee }) => ({ price: offers[0]?.price ?? 1, fee }));
  const net = netSpread(best, payout);
  const walk = walkLegs(legs, payout);
  const daysToResolution = daysUntilSettlement(legs, now);
  const oldestAt = Math.min(...legs.map(({ quotes }) => quotes.at));
  return {
    legs,
    spread,
    netSpread: net,
    walk,
    daysToResolution,
    annualizedReturn:
      walk === null || walk.contracts === 0 || daysToResolution === null
        ? null
        : annualizedReturn(walk.profitUsd, walk.capitalUsd, daysToResolution),
    score: scoreArbitrage({
      netSpread: net,
      executableUsd: walk?.capitalUsd ?? null,
      matchConfidence,
      bidAskSpread: widestSpread(legs),
      ageShare: Math.max(0, now - oldestAt) / QUOTE_AGE_MS_MAX,
    }),
  };
}

/** Computes the most profitable purchase from the offers of the legs; null if a size is unknown. */
function walkLegs(legs: readonly OpportunityLeg[], payout: number): ArbitrageWalk | null {
  const hasSize = (level: QuotedLevel): level is BookLevel => level.size !== null;
  const known = legs.flatMap(({ offers, fee }) =>
    offers.every(hasSize) ? { offers: offers.filter(hasSize), fee } : [],
  );
  return known.length < legs.length ? null : walkArbitrage(known, payout);
}

function topOfQuotes({ market, bids, asks, yesPrice: price }: MarketQuotes): TopOfBook | null {
  const { takerFee } = market.listing;
  if (takerFee === null || !canTrade(market)) return null;
  return { bid: bids[0]?.price ?? null, ask: asks[0]?.price ?? null, yesPrice: price, fee: takerFee };
}

function widestSpread(legs: readonly OpportunityLeg[]): number | null {
  const spreads = legs.flatMap(
    ({ quotes: { bids, asks } }) => spreadOf(bids[0]?.price ?? null, asks[0]?.price ?? null) ?? [],
  );
  return spreads.length < legs.length ? null : Math.max(...spreads);
}

/** Days until the last leg settles, by expected resolution time or else closing time; null if unknown. */
function daysUntilSettlement(legs: readonly OpportunityLeg[], now: number): number | null {
  const times = legs.flatMap(({ quotes: { market } }) => validResolutionTime(market.listing, now) ?? []);
  return times.length < legs.length ? null : Math.max(0, (Math.max(...times) - now) / DAY_MS);
}
