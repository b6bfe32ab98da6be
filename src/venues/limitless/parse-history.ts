import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parseMoment } from "./values.ts";
import type { LimitlessDriftDetectors } from "./wire.ts";
import { isPricePoint } from "./wire.ts";

interface Counters {
  readonly drop: DropCounter;
  readonly watch: LimitlessDriftDetectors;
}

const SERIES_MAX = 1_000;
const POINTS_MAX = 50_000;

interface Series {
  readonly title: string | null;
  readonly rows: readonly unknown[];
}

export interface HistoryQuery {
  readonly fromMs: number;
  readonly toMs: number;
  /** Spacing asked for; no point reaches further back than this. */
  readonly stepMs: number;
  /** Names under which the wanted series may appear where an answer holds several. */
  readonly titles: readonly string[];
}

/**
 * Price history in any of its shapes: an object with `prices`, a list of such objects (one per token or one per child),
 * either of them or bare points under `data`. Times may be ISO text, seconds or milliseconds, in any order.
 */
export function parseHistory(json: unknown, query: HistoryQuery, counters: Counters): HistoryPoint[] {
  const series = chooseSeries(listSeries(json, 0), query.titles);
  if (series === null) {
    counters.drop("history_without_series");
    return [];
  }
  const priceAt = new Map<number, number>();
  for (const { at, price } of readPoints(series.rows, counters)) priceAt.set(at, price);
  const times = [...priceAt.keys()].sort((a, b) => a - b);
  const points: HistoryPoint[] = [];
  let before = Number.NEGATIVE_INFINITY;
  for (const endAt of times) {
    const startAt = Math.max(before, endAt - query.stepMs, query.fromMs);
    before = endAt;
    if (endAt <= query.fromMs || endAt > query.toMs) continue;
    points.push({ startAt, endAt, yesPrice: priceAt.get(endAt) ?? null, bid: null, ask: null, volumeUsd: null });
  }
  return points;
}

function readPoints(rows: readonly unknown[], { drop, watch }: Counters): { at: number; price: number }[] {
  const read: { at: number; price: number }[] = [];
  for (const row of rows.slice(0, POINTS_MAX)) {
    const point = watch.history_point.check(row, isPricePoint) ? row : null;
    const at = point === null ? null : parseMoment(point.timestamp);
    const price = point === null ? null : parseDecimal(point.price);
    if (at === null || price === null) drop("bad_history_point");
    else read.push({ at, price });
  }
  // A series in percent lies mostly above 1, one in probabilities never does.
  const isPercent = read.filter((point) => point.price > 1).length > read.length / 2;
  return read.flatMap(({ at, price }) => {
    const tradable = parseTradablePrice(isPercent ? price / 100 : price);
    if (tradable === null) drop("price_out_of_range");
    return tradable === null ? [] : [{ at, price: tradable }];
  });
}

function listSeries(json: unknown, depth: number): Series[] {
  if (Array.isArray(json)) {
    const isBare = json.every((item) => typeof item === "object" && item !== null && "timestamp" in item);
    if (isBare) return [{ title: null, rows: json }];
    return json.slice(0, SERIES_MAX).flatMap((item) => (Array.isArray(item) ? [] : listSeries(item, depth + 1)));
  }
  if (typeof json !== "object" || json === null) return [];
  const { title, prices, data } = json as Record<string, unknown>;
  if (Array.isArray(prices)) return [{ title: typeof title === "string" ? title : null, rows: prices }];
  return depth < 2 && data !== undefined ? listSeries(data, depth + 1) : [];
}

/** The only one, the YES token's, or the one that bears the market's name; guessing would show another's prices. */
function chooseSeries(series: readonly Series[], titles: readonly string[]): Series | null {
  const [first] = series;
  if (series.length <= 1) return first ?? null;
  const same = (title: string | null, name: string) => title?.trim().toLowerCase() === name.trim().toLowerCase();
  return (
    series.find((entry) => titles.some((name) => same(entry.title, name))) ??
    series.find((entry) => same(entry.title, "yes token") || same(entry.title, "yes")) ??
    null
  );
}
