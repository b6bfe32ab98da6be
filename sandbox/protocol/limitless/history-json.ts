import type { ListedMarket, PricePoint } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { CatalogueEntry } from "./catalogue.ts";
import { isGroup } from "./ids.ts";
import { ammPrice } from "./market-json.ts";
import { round6 } from "./units.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const INTERVAL_MS: Readonly<Record<string, number>> = {
  "1h": HOUR_MS,
  "6h": 6 * HOUR_MS,
  "1d": DAY_MS,
  "1w": 7 * DAY_MS,
  "1m": 30 * DAY_MS,
  all: HOUR_MS,
};
/** Points in one response; older points are omitted. */
const POINTS_MAX = 2_000;

export interface HistoryRange {
  readonly interval: string;
  readonly from: number | null;
  readonly to: number | null;
}

function pointsOf(context: ExchangeContext, market: ListedMarket, range: HistoryRange) {
  const now = context.now();
  const intervalMs = INTERVAL_MS[range.interval] ?? HOUR_MS;
  const to = Math.min(range.to ?? now, now);
  const from = Math.max(range.from ?? market.openAt, market.openAt, to - POINTS_MAX * intervalMs);
  const points: { at: number; price: number }[] = [];
  for (const point of context.world.priceHistory(market, from, to, intervalMs)) {
    const price = market.mechanism === "amm" ? ammPrice(context, market, point.at) : midOrLastPrice(point);
    if (price !== null) points.push({ at: point.at, price });
  }
  return points.reverse();
}

/** Mid of a two-sided book, otherwise the last trade price. */
function midOrLastPrice({ bid, ask, lastPrice }: PricePoint): number | null {
  return bid !== null && ask !== null ? round6((bid + ask) / 2) : lastPrice;
}

/**
 * Price points, newest first. The shape depends on the kind of market:
 * - group: one series per child, ISO timestamps
 * - child of a group: one series per token, milliseconds as text
 * - single order-book market: one object, milliseconds
 * - AMM: bare points, seconds
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
    const no = points.map(({ at, price }) => ({ timestamp: String(at), price: round6(1 - price) }));
    const yes = points.map(({ at, price }) => ({ timestamp: String(at), price }));
    return [
      { title: "YES Token", prices: yes },
      { title: "NO Token", prices: no },
    ];
  }
  return { title: entry.market.question, prices: points.map(({ at, price }) => ({ timestamp: at, price })) };
}
