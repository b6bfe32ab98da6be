import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/durations.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import { createBadBodyError, type PolymarketContext } from "./client.ts";
import { parseHistory } from "./parse-history.ts";
import { isHistoryReply } from "./wire.ts";

/** Length of the windows in which a range is read. The venue rejects longer windows with short intervals. */
const WINDOW_MS = 14 * DAY_MS;
const WINDOWS_MAX = 60;
/** Maximum rounding of times by `parseHistory`. Points outside a range by at most this may belong to it. */
const ROUNDING_MS_MAX = MINUTE_MS / 2;

/** Returns the displayed prices of the YES token, oldest first, at intervals of whole minutes (`fidelity`). */
export async function getHistory(
  context: PolymarketContext,
  listing: MarketListing,
  range: HistoryRange,
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const token = listing.venueKeys.tokenYes;
  if (token === undefined || range.toMs <= range.fromMs) return [];
  const fidelity = Math.max(1, Math.floor(range.intervalMs / MINUTE_MS));
  const points: HistoryPoint[] = [];
  let fromMs = Math.max(range.fromMs, range.toMs - WINDOWS_MAX * WINDOW_MS);
  while (fromMs < range.toMs) {
    const toMs = Math.min(range.toMs, fromMs + WINDOW_MS);
    const query = {
      market: token,
      startTs: Math.floor(fromMs / 1000),
      endTs: Math.ceil((toMs + ROUNDING_MS_MAX) / 1000),
      fidelity,
    };
    const { json } = await context.clob.fetchJson("/prices-history", { query, signal });
    if (!isHistoryReply(json)) throw createBadBodyError("the price history has an unknown shape");
    points.push(...parseHistory(json.history, fidelity * MINUTE_MS, context));
    fromMs = toMs;
  }
  const inRange = points
    .filter(({ startAt, endAt }) => startAt >= range.fromMs - ROUNDING_MS_MAX && endAt <= range.toMs)
    .map((point) => ({ ...point, startAt: Math.max(point.startAt, range.fromMs) }));
  // Adjacent windows may both include the point on their boundary.
  return inRange.filter((point, index) => point.endAt !== inRange[index - 1]?.endAt);
}
