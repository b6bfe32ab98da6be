import { parseDecimal, parseTradablePrice } from "../../domain/price.ts";
import { isObject } from "../../lib/is-object.ts";
import type { LimitlessContext } from "./client.ts";
import { parseTime } from "./parse-values.ts";
import { isPricePoint } from "./wire.ts";

type Counters = Pick<LimitlessContext, "countDrop" | "driftDetectors">;

const SERIES_MAX = 1_000;
const POINTS_MAX = 50_000;

interface Series {
  readonly title: string | null;
  readonly rows: readonly unknown[];
}

/** The YES price at one time, Unix milliseconds. */
export interface PricePoint {
  readonly at: number;
  readonly price: number;
}

/**
 * Parses all documented formats of a price history: an object with `prices`, or a list of such objects (one per token
 * or child). Either of them, or a list of points, may also be in the field `data`. Times are ISO text, seconds or
 * milliseconds, in any order. Returns one point per time, oldest first.
 *
 * @param titles  possible titles of the market's series in a response with several series
 */
export function parseHistory(json: unknown, titles: readonly string[], counters: Counters): PricePoint[] {
  const series = chooseSeries(listSeries(json, 0), titles);
  if (series === null) {
    counters.countDrop("history_without_series");
    return [];
  }
  const pointByTime = new Map(parsePoints(series.rows, counters).map((point) => [point.at, point]));
  return [...pointByTime.values()].sort((a, b) => a.at - b.at);
}

function parsePoints(rows: readonly unknown[], { countDrop, driftDetectors }: Counters): PricePoint[] {
  const points: PricePoint[] = [];
  for (const row of rows.slice(0, POINTS_MAX)) {
    const point = driftDetectors.history_point.check(row, isPricePoint) ? row : null;
    const at = point === null ? null : parseTime(point.timestamp);
    const price = point === null ? null : parseDecimal(point.price);
    if (at === null || price === null) countDrop("bad_history_point");
    else points.push({ at, price });
  }
  // Probabilities are at most 1. In a series in percent, most points are above 1.
  const isPercent = points.filter((point) => point.price > 1).length > points.length / 2;
  return points.flatMap(({ at, price }) => {
    const tradable = parseTradablePrice(isPercent ? price / 100 : price);
    if (tradable === null) countDrop("price_out_of_range");
    return tradable === null ? [] : [{ at, price: tradable }];
  });
}

/** Returns all price series of a response, at most two levels deep. */
function listSeries(json: unknown, depth: number): Series[] {
  if (Array.isArray(json)) {
    const isPointList = json.every((item) => isObject(item) && "timestamp" in item);
    if (isPointList) return [{ title: null, rows: json }];
    return json.slice(0, SERIES_MAX).flatMap((item) => (Array.isArray(item) ? [] : listSeries(item, depth + 1)));
  }
  if (!isObject(json)) return [];
  const { title, prices, data } = json;
  if (Array.isArray(prices)) return [{ title: typeof title === "string" ? title : null, rows: prices }];
  return depth < 2 && data !== undefined ? listSeries(data, depth + 1) : [];
}

/**
 * Returns the only series, or the series with the market's title, or the YES token's series. Otherwise returns null,
 * because another series may contain the prices of another market.
 */
function chooseSeries(series: readonly Series[], titles: readonly string[]): Series | null {
  const [first] = series;
  if (series.length <= 1) return first ?? null;
  const isSame = (title: string | null, name: string) => title?.trim().toLowerCase() === name.trim().toLowerCase();
  return (
    series.find((entry) => titles.some((name) => isSame(entry.title, name))) ??
    series.find((entry) => isSame(entry.title, "yes token") || isSame(entry.title, "yes")) ??
    null
  );
}
