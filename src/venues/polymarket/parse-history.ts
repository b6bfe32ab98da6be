import { parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import { MINUTE_MS } from "../../lib/durations.ts";
import type { PolymarketContext } from "./client.ts";
import { toPlausibleTime } from "./parse-values.ts";
import { isHistoryRow } from "./wire.ts";

/**
 * Parses price points, whose times are in seconds, to intervals. An interval ends at the minute nearest to the point,
 * because the venue samples prices some seconds after the minute. If a minute has several points, the last is used. The
 * venue publishes only the displayed price, without bid, ask and volume.
 */
export function parseHistory(
  rows: readonly unknown[],
  intervalMs: number,
  { countDrop, driftDetectors }: Pick<PolymarketContext, "countDrop" | "driftDetectors">,
): HistoryPoint[] {
  const samples: { readonly at: number; readonly price: number }[] = [];
  for (const row of rows) {
    const point = driftDetectors.history_point.check(row, isHistoryRow) ? row : null;
    const at = point === null ? null : toPlausibleTime(Number(point.t) * 1000);
    const price = point === null ? null : parseTradablePrice(point.p);
    if (at === null) countDrop("bad_row");
    else if (price === null) countDrop("price_out_of_range");
    else samples.push({ at, price });
  }
  samples.sort((a, b) => a.at - b.at);
  const priceByMinute = new Map(samples.map(({ at, price }) => [Math.round(at / MINUTE_MS) * MINUTE_MS, price]));
  return [...priceByMinute].map(([endAt, yesPrice]) => {
    return { startAt: endAt - intervalMs, endAt, yesPrice, bid: null, ask: null, volumeUsd: null };
  });
}
