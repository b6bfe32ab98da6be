import { DAY_MS, MINUTE_MS } from "../../../src/lib/durations.ts";
import type { ListedMarket, World } from "../../world/types.ts";
import type { TokenSide } from "./ids.ts";
import { computeDisplayedPrice, toOppositePrice } from "./market-state.ts";

/** Preset intervals: time span, and the minimum fidelity (minutes per point). */
export const HISTORY_INTERVALS: Readonly<Record<string, { readonly spanMs: number; readonly fidelity: number }>> = {
  "1h": { spanMs: DAY_MS / 24, fidelity: 1 },
  "6h": { spanMs: DAY_MS / 4, fidelity: 1 },
  "1d": { spanMs: DAY_MS, fidelity: 1 },
  "1w": { spanMs: 7 * DAY_MS, fidelity: 5 },
  "1m": { spanMs: 30 * DAY_MS, fidelity: 10 },
  max: { spanMs: Number.POSITIVE_INFINITY, fidelity: 1 },
  all: { spanMs: Number.POSITIVE_INFINITY, fidelity: 1 },
};
/** Maximum number of points of a full history; older points are omitted. */
export const HISTORY_POINTS_MAX = 4_300;

interface HistoryRow {
  /** Unix seconds. */
  readonly t: number;
  /** Price in [0, 1]. */
  readonly p: number;
}

/** Prices of one token at every multiple of the step in (from, to], oldest first. Steps without a price are omitted. */
export function computePriceHistory(
  world: World,
  market: ListedMarket,
  side: TokenSide,
  range: { readonly from: number; readonly to: number; readonly stepMinutes: number },
): HistoryRow[] {
  const from = Math.max(range.from, market.openAt);
  if (range.to <= from) return [];
  const rows: HistoryRow[] = [];
  for (const point of world.priceHistory(market, from, range.to, range.stepMinutes * MINUTE_MS)) {
    const price = computeDisplayedPrice(point.bid, point.ask, point.lastPrice);
    if (price === null) continue;
    rows.push({ t: Math.floor(point.at / 1000), p: side === 0 ? price : toOppositePrice(price) });
  }
  return rows;
}
