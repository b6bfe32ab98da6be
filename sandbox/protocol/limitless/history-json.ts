import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket, PricePoint } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { isGroup } from "./ids.ts";
import { ammPriceOf } from "./market-json.ts";
import { isUnquoted } from "./published-book.ts";
import { roundTo6Decimals } from "./units.ts";

/** Length of each window and the interval between its points. Only the interval of `1d` is confirmed. */
const WINDOWS = {
  "1h": { lengthMs: HOUR_MS, stepMs: MINUTE_MS },
  "6h": { lengthMs: 6 * HOUR_MS, stepMs: 5 * MINUTE_MS },
  "1d": { lengthMs: DAY_MS, stepMs: 15 * MINUTE_MS },
  "1w": { lengthMs: 7 * DAY_MS, stepMs: 30 * MINUTE_MS },
  "1m": { lengthMs: 30 * DAY_MS, stepMs: 12 * HOUR_MS },
  all: { lengthMs: Number.POSITIVE_INFINITY, stepMs: 12 * HOUR_MS },
} as const;
type HistoryWindow = keyof typeof WINDOWS;
export const HISTORY_WINDOWS = Object.keys(WINDOWS) as readonly HistoryWindow[];
/** Maximum number of points in one response. Older points are omitted. */
const POINTS_MAX = 2_000;

export interface HistoryRange {
  readonly window: HistoryWindow;
  readonly from: number | null;
  readonly to: number | null;
}

/** Returns the points of the window that ends at `to`, by default now, newest first, without points before `from`. */
function pointsOf(context: ExchangeContext, market: ListedMarket, range: HistoryRange) {
  const now = context.now();
  const { lengthMs, stepMs } = WINDOWS[range.window];
  const to = Math.min(range.to ?? now, now);
  const from = Math.max(range.from ?? market.openAt, market.openAt, to - Math.min(lengthMs, POINTS_MAX * stepMs));
  const points: { at: number; price: number }[] = [];
  for (const point of context.world.priceHistory(market, from, to, stepMs)) {
    const price = market.mechanism === "amm" ? ammPriceOf(context, market, point.at) : midOrLastPrice(market, point);
    if (price !== null) points.push({ at: point.at, price });
  }
  return points.reverse();
}

/** Returns the mid if the published book has both sides, otherwise the last trade price. */
function midOrLastPrice(market: ListedMarket, { bid, ask, lastPrice }: PricePoint): number | null {
  return bid !== null && ask !== null && !isUnquoted(market, lastPrice) ? roundTo6Decimals((bid + ask) / 2) : lastPrice;
}

/**
 * Presents the price points of a market or group, newest first. The format depends on the kind of market:
 * - group: one series per child, ISO timestamps
 * - child of a group: one series per token, milliseconds as text
 * - single order-book market: one object, milliseconds
 * - AMM: points without a title, seconds
 */
export function presentHistory(context: ExchangeContext, entry: CatalogueEntry, range: HistoryRange): unknown {
  if (entry.kind === "group") {
    return entry.event.markets.map((market) => ({
      title: market.label,
      prices: pointsOf(context, market, range).map(({ at, price }) => ({
        timestamp: new Date(at).toISOString(),
        price,
      })),
    }));
  }
  const points = pointsOf(context, entry.market, range);
  if (entry.market.mechanism === "amm") {
    return { data: points.map(({ at, price }) => ({ timestamp: Math.floor(at / 1000), price })) };
  }
  if (isGroup(entry.market.event)) {
    const noPoints = points.map(({ at, price }) => ({ timestamp: String(at), price: roundTo6Decimals(1 - price) }));
    const yesPoints = points.map(({ at, price }) => ({ timestamp: String(at), price }));
    return [
      { title: "YES Token", prices: yesPoints },
      { title: "NO Token", prices: noPoints },
    ];
  }
  return { title: entry.market.question, prices: points.map(({ at, price }) => ({ timestamp: at, price })) };
}
