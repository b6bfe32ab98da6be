import { parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { PolymarketPorts } from "./client.ts";
import { plausibleTime } from "./parse-values.ts";
import { isHistoryRow } from "./wire.ts";

/**
 * Parses price points to intervals that end at the time of the point (in seconds). The venue publishes only the
 * displayed price: no bid, ask or volume.
 */
export function parseHistory(
  rows: readonly unknown[],
  intervalMs: number,
  { countDrop, driftDetectors }: Pick<PolymarketPorts, "countDrop" | "driftDetectors">,
): HistoryPoint[] {
  const points: HistoryPoint[] = [];
  for (const row of rows) {
    const point = driftDetectors.history_point.check(row, isHistoryRow) ? row : null;
    const endAt = point === null ? null : plausibleTime(Math.round(Number(point.t) * 1000));
    const price = point === null ? null : parseTradablePrice(point.p);
    if (endAt === null) countDrop("bad_row");
    else if (price === null) countDrop("price_out_of_range");
    else points.push({ startAt: endAt - intervalMs, endAt, yesPrice: price, bid: null, ask: null, volumeUsd: null });
  }
  return points.sort((a, b) => a.endAt - b.endAt);
}
