import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { complementLevels, isCrossed, type OrderBook } from "../../../domain/order-book.ts";
import { type PriceRange, stepAt } from "../../../domain/order-rules.ts";
import { spreadOf } from "../../../domain/price.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { roundTo } from "../../../lib/numbers.ts";
import { slippagePercent } from "../../../quant/book-walk.ts";
import { limitPrice } from "../../../quant/limit-price.ts";
import { liquidityScore } from "../../../quant/liquidity.ts";
import { spreadStatistics } from "../../../quant/spread-history.ts";
import type { QuoteTicks } from "../../../storage/index.ts";
import type { MarketDependencies } from "../ports.ts";
import type { KeyDate } from "../resolution/index.ts";
import { adviseExecution } from "./advice.ts";
import type { ExecutionFigures, ExecutionObstacle } from "./model.ts";
import type { ExecutionGuidance } from "./schema.ts";
import { guideSides } from "./sides.ts";

/** Period of the spread history, and its recent part. The trend compares the recent part with the earlier part. */
const HISTORY_MS = 48 * HOUR_MS;
const RECENT_MS = 12 * HOUR_MS;
/** Minimum time with quotes for a percentile or a trend. */
const OBSERVED_MS_MIN = HOUR_MS;

export interface ExecutionDependencies extends Pick<MarketDependencies, "clock" | "getMarket" | "readBook"> {
  /** Returns the stored quotes of a period, in Unix milliseconds. */
  readonly readQuoteTicks: (
    marketKey: number,
    period: { readonly fromMs: number; readonly toMs: number },
  ) => Promise<QuoteTicks>;
  /** Returns the next date after `now` that may affect the market's spread. */
  readonly nextKeyDate: (market: BoardMarket, now: number) => KeyDate | null;
}

const NO_SIDES = { buy_yes: null, buy_no: null, sell_yes: null, sell_no: null } as const;

export type ExecutionService = ReturnType<typeof createExecutionService>;

/** Creates execution guidance for a market from its order book and its quotes of the last 48 hours. */
export function createExecutionService(ports: ExecutionDependencies) {
  const { clock } = ports;
  return {
    /**
     * @param sizeUsd  size of the order for which the slippage is estimated, above 0
     * @throws AppError `market_not_found`, `venue_unavailable` or `store_unavailable`; VenueError
     */
    async getGuidance(venue: VenueId, marketId: string, sizeUsd: number): Promise<ExecutionGuidance> {
      const market = await ports.getMarket(venue, marketId);
      const { listing, storeKey } = market;
      const now = clock.now();
      const isOpen = listing.status === "active" && !listing.paused;
      const [book, { ticks, tickCount }] = await Promise.all([
        isOpen ? ports.readBook(market) : null,
        storeKey === null
          ? { ticks: [], tickCount: 0 }
          : ports.readQuoteTicks(storeKey, { fromMs: now - HISTORY_MS, toMs: now }),
      ]);
      const obstacle = findObstacle(market, book);
      const prices = readPrices(book);
      const history = spreadStatistics(
        {
          times: ticks.map(({ at }) => at),
          spreads: ticks.map(({ bid, ask }) => (isCrossed(bid, ask) ? null : spreadOf(bid, ask))),
        },
        prices.spread,
        { from: now - HISTORY_MS, recentFrom: now - RECENT_MS, to: now, observedMsMin: OBSERVED_MS_MIN },
      );
      const figures: ExecutionFigures = {
        ...prices,
        averageSpread: history.mean === null ? null : roundTo(history.mean, 6),
        spreadPercentile: history.percentile === null ? null : roundTo(history.percentile, 1),
        spreadTrend: history.trend,
        liquidityScore: scoreLiquidity(prices.spread, market.activity.volume24hUsd),
        slippagePercent: book === null || prices.spread === null ? null : estimateSlippage(book, sizeUsd),
        limitPrice: suggestPrice(prices, listing.priceRanges, history.trend),
        sizeUsd,
        tick: stepAt(listing.priceRanges, prices.ask),
        nextEvent: hoursUntil(ports.nextKeyDate(market, now), now),
      };
      const sides =
        book === null || obstacle !== null ? null : guideSides(book, listing, { sizeUsd, trend: history.trend });
      return {
        market_id: listing.marketId,
        platform: listing.venue,
        title: listing.title,
        current_bid: figures.bid,
        current_ask: figures.ask,
        current_spread: figures.spread,
        avg_spread_48h: figures.averageSpread,
        spread_percentile: figures.spreadPercentile,
        spread_trend: figures.spreadTrend,
        liquidity_score: figures.liquidityScore,
        estimated_slippage_pct: figures.slippagePercent,
        ...adviseExecution(figures, obstacle, listing.status),
        suggested_limit_price: figures.limitPrice,
        ...(sides ?? NO_SIDES),
        upcoming_event: figures.nextEvent?.label ?? null,
        hours_to_event: figures.nextEvent?.hours ?? null,
        tick_count: tickCount,
        reference_size_usd: sizeUsd,
        generated_at: toIso(now),
      };
    },
  };
}

function findObstacle({ listing }: BoardMarket, book: OrderBook | null): ExecutionObstacle | null {
  if (listing.status !== "active") return "not_open";
  if (listing.paused) return "paused";
  if (book === null) return "no_book";
  if (book.bids.length === 0) return book.asks.length === 0 ? "empty_book" : "no_bids";
  if (book.asks.length === 0) return "no_asks";
  return isCrossed(book.bids[0]?.price ?? null, book.asks[0]?.price ?? null) ? "crossed_book" : null;
}

/** Returns the best prices of the order book; null for a crossed book. */
function readPrices(book: OrderBook | null): Pick<ExecutionFigures, "bid" | "ask" | "spread"> {
  const bid = book?.bids[0]?.price ?? null;
  const ask = book?.asks[0]?.price ?? null;
  if (isCrossed(bid, ask)) return { bid: null, ask: null, spread: null };
  return { bid, ask, spread: spreadOf(bid, ask) };
}

function scoreLiquidity(spread: number | null, volume24hUsd: number | null): number | null {
  if (spread === null || volume24hUsd === null || !(volume24hUsd >= 0 && volume24hUsd < Infinity)) return null;
  return roundTo(liquidityScore(spread, volume24hUsd), 1);
}

/**
 * Returns the larger slippage of two market orders of this value: one buys YES from the asks, one buys NO from the
 * bids. Null if a side cannot fill its order.
 */
function estimateSlippage({ bids, asks }: OrderBook, sizeUsd: number): number | null {
  const slippages = [slippagePercent(asks, sizeUsd), slippagePercent(complementLevels(bids), sizeUsd)];
  const known = slippages.filter((slippage) => slippage !== null);
  return known.length < slippages.length ? null : roundTo(Math.max(...known), 4);
}

function suggestPrice(
  { bid, ask }: Pick<ExecutionFigures, "bid" | "ask">,
  priceRanges: readonly PriceRange[] | null,
  trend: ExecutionFigures["spreadTrend"],
): number | null {
  return bid === null || ask === null || priceRanges === null
    ? null
    : limitPrice({ bid, ask, priceRanges, trend, action: "buy" });
}

function hoursUntil(date: KeyDate | null, now: number): ExecutionFigures["nextEvent"] {
  return date === null ? null : { label: date.label, hours: roundTo(Math.max(0, (date.at - now) / HOUR_MS), 2) };
}
