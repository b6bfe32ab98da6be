import type { ListedMarket, PricePoint } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { isGroup } from "./ids.ts";
import { ammPriceOf } from "./market-json.ts";
import { roundTo6Decimals } from "./units.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INTERVAL_MS_BY_NAME: Readonly<Record<string, number>> = {
  "1h": HOUR_MS,
  "6h": 6 * HOUR_MS,
  "1d": DAY_MS,
  "1w": 7 * DAY_MS,
  "1m": 30 * DAY_MS,
  all: HOUR_MS,
};
/** Limit of points in one response; older points are omitted. */
const POINTS_MAX = 2_000;

export interface HistoryRange {
  readonly interval: string;
  readonly from: number | null;
  readonly to: number | null;
}

function pointsOf(context: ExchangeContext, market: ListedMarket, range: HistoryRange) {
  const now = context.now();
  const intervalMs = INTERVAL_MS_BY_NAME[range.interval] ?? HOUR_MS;
  const to = Math.min(range.to ?? now, now);
  const from = Math.max(range.from ?? market.openAt, market.openAt, to - POINTS_MAX * intervalMs);
  const points: { at: number; price: number }[] = [];
  for (const point of context.world.priceHistory(market, from, to, intervalMs)) {
    const price = market.mechanism === "amm" ? ammPriceOf(context, market, point.at) : midOrLastPrice(point);
    if (price !== null) points.push({ at: point.at, price });
  }
  return points.reverse();
}

/** Returns the mid if the book has both sides, otherwise the last trade price. */
function midOrLastPrice({ bid, ask, lastPrice }: PricePoint): number | null {
  return bid !== null && ask !== null ? roundTo6Decimals((bid + ask) / 2) : lastPrice;
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
