import type { ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import type { Listed } from "./catalogue.ts";
import { isGroup } from "./ids.ts";
import { ammPrice } from "./market-json.ts";

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
/** Points of one answer; older ones are left out. */
const POINTS_MAX = 2_000;

export interface HistoryRange {
  readonly interval: string;
  readonly from: number | null;
  readonly to: number | null;
}

interface Point {
  readonly at: number;
  readonly price: number;
}

function pointsOf(context: ExchangeContext, market: ListedMarket, range: HistoryRange): Point[] {
  const now = context.now();
  const intervalMs = INTERVAL_MS[range.interval] ?? HOUR_MS;
  const to = Math.min(range.to ?? now, now);
  const from = Math.max(range.from ?? market.openAt, market.openAt, to - POINTS_MAX * intervalMs);
  const points: Point[] = [];
  for (const past of context.world.past(market, from, to, intervalMs)) {
    const price = market.mechanism === "amm" ? ammPrice(context, market, past.at) : shownPrice(past);
    if (price !== null) points.push({ at: past.at, price });
  }
  return points.reverse();
}

/** Mid of a two-sided book, else the last trade. */
function shownPrice(past: { bid: number | null; ask: number | null; lastPrice: number | null }): number | null {
  if (past.bid !== null && past.ask !== null) return Math.round(((past.bid + past.ask) / 2) * 1e6) / 1e6;
  return past.lastPrice;
}

/**
 * Newest first, and in a shape that depends on what was asked for: a group gives one series per child with ISO times, a
 * child one series per token, a single market one object with milliseconds, an AMM bare points with seconds.
 */
export function presentHistory(context: ExchangeContext, listed: Listed, range: HistoryRange): unknown {
  if (listed.kind === "group") {
    return listed.event.markets.map((market) => ({
      title: market.label,
      prices: pointsOf(context, market, range).map(({ at, price }) => ({
        timestamp: new Date(at).toISOString(),
        price,
      })),
    }));
  }
  const points = pointsOf(context, listed.market, range);
  if (listed.market.mechanism === "amm") {
    return { data: points.map(({ at, price }) => ({ timestamp: Math.floor(at / 1000), price })) };
  }
  if (isGroup(listed.market.event)) {
    const no = points.map(({ at, price }) => ({ timestamp: String(at), price: Math.round((1 - price) * 1e6) / 1e6 }));
    const yes = points.map(({ at, price }) => ({ timestamp: String(at), price }));
    return [
      { title: "YES Token", prices: yes },
      { title: "NO Token", prices: no },
    ];
  }
  return { title: listed.market.question, prices: points.map(({ at, price }) => ({ timestamp: at, price })) };
}
