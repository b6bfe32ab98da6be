import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import { DAY_MS, HOUR_MS } from "../../lib/durations.ts";
import type { HistoryRange } from "../../ports/venue.ts";
import type { LimitlessContext } from "./client.ts";
import { slugOf } from "./ids.ts";
import { type PricePoint, parseHistory } from "./parse-history.ts";

/** The venue's look-back windows, shortest first. The interval between points depends on the window. */
const WINDOWS: readonly Window[] = [
  { name: "1h", lengthMs: HOUR_MS },
  { name: "6h", lengthMs: 6 * HOUR_MS },
  { name: "1d", lengthMs: DAY_MS },
  { name: "1w", lengthMs: 7 * DAY_MS },
  { name: "1m", lengthMs: 30 * DAY_MS },
];
const WHOLE_LIFE: Window = { name: "all", lengthMs: Number.POSITIVE_INFINITY };
/** Maximum number of requests with `from` and `to`. One request without them may follow. */
const PAGES_MAX = 5;

interface Window {
  readonly name: string;
  readonly lengthMs: number;
}

type Range = Pick<HistoryRange, "fromMs" | "toMs">;

interface Page {
  /** Oldest first. */
  readonly points: readonly PricePoint[];
  /** Interval between the points, in milliseconds. */
  readonly stepMs: number;
}

/**
 * Returns YES prices, oldest first. The venue publishes no bid, ask or volume history. Intervals without a point are
 * omitted, because the venue may not have returned all points.
 *
 * Requests the range page by page, newest first, in the shortest window that needs at most `PAGES_MAX` pages. It is not
 * certain that the venue applies `from` and `to`. If a page has no older point than the pages before it, the rest of
 * the range is read from the window that ends now and contains it.
 */
export async function getHistory(
  context: LimitlessContext,
  listing: MarketListing,
  range: HistoryRange,
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const { fromMs, toMs, intervalMs } = range;
  const titles = [listing.outcomeLabel, listing.title].filter((title) => title !== null);
  const fetchPage = async (window: Window, pageRange: Range | null): Promise<Page> => {
    const response = await context.client.findHistory(slugOf(listing), window.name, pageRange, signal);
    const points = response === null ? [] : parseHistory(response.json, titles, context);
    return { points, stepMs: medianDistance(points) ?? intervalMs };
  };

  const pages: Page[] = [];
  const pageWindow = shortestWindow((toMs - fromMs) / PAGES_MAX);
  /** Start of the range that has been read. */
  let readFromMs = toMs;
  while (pages.length < PAGES_MAX && readFromMs > fromMs) {
    const pageFromMs = Math.max(fromMs, readFromMs - pageWindow.lengthMs);
    const page = await fetchPage(pageWindow, { fromMs: pageFromMs, toMs: readFromMs });
    const oldestAt = page.points[0]?.at ?? readFromMs;
    if (oldestAt >= readFromMs) {
      if ((page.points.at(-1)?.at ?? 0) > readFromMs) context.countDrop("history_range_ignored");
      break;
    }
    pages.push(page);
    readFromMs = oldestAt - page.stepMs <= pageFromMs ? Math.min(oldestAt, pageFromMs) : oldestAt;
  }
  const wholeWindow = shortestWindow(context.clock.now() - fromMs - intervalMs);
  if (readFromMs > fromMs && wholeWindow !== pageWindow) {
    const page = await fetchPage(wholeWindow, null);
    pages.push({ ...page, points: page.points.filter(({ at }) => at <= readFromMs) });
  }
  return toHistoryPoints(pages, range);
}

function shortestWindow(lengthMs: number): Window {
  return WINDOWS.find((window) => window.lengthMs >= lengthMs) ?? WHOLE_LIFE;
}

/** Returns the median interval between consecutive points, or null for fewer than two points. */
function medianDistance(points: readonly PricePoint[]): number | null {
  const distances = points.slice(1).map(({ at }, index) => at - (points[index]?.at ?? at));
  return distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] ?? null;
}

/** Returns intervals that end at the points of the range and are at most as long as `intervalMs`. */
function toHistoryPoints(pages: readonly Page[], { fromMs, toMs, intervalMs }: HistoryRange): HistoryPoint[] {
  const samples = pages.flatMap(({ points, stepMs }) => points.map((point) => ({ ...point, stepMs })));
  const history: HistoryPoint[] = [];
  for (const { at: endAt, price, stepMs } of samples.sort((a, b) => a.at - b.at)) {
    const previousEndAt = history.at(-1)?.endAt ?? fromMs;
    if (endAt <= previousEndAt || endAt > toMs) continue;
    const startAt = Math.max(previousEndAt, endAt - Math.min(stepMs, intervalMs));
    history.push({ startAt, endAt, yesPrice: price, bid: null, ask: null, volumeUsd: null });
  }
  return history;
}
