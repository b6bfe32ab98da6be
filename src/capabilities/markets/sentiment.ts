import { type BoardMarket, priceChange24h } from "../../board/index.ts";
import type { MarketWideTrend } from "../../storage/index.ts";

export interface Sentiment {
  /** From 0 (all volume-weighted price moves of 24 hours were down) to 100 (all were up); null if none is known. */
  readonly fearGreedIndex: number | null;
  readonly marketRegime: "risk_on" | "risk_off" | "neutral";
  readonly volumeTrend: "rising" | "falling" | "stable" | null;
  readonly spreadTrend: "widening" | "tightening" | "stable" | null;
  readonly activeMarketCount: number;
  readonly dominantCategory: string | null;
  readonly topMovers: readonly BoardMarket[];
}

const RISK_ON_MIN = 60;
const RISK_OFF_MAX = 40;
const TREND_RATIO = 0.1;
const TOP_MOVERS = 10;

/**
 * Computes the sentiment over all active markets.
 *
 * fear_greed_index = 100 * (sum of volume * rise) / (sum of volume * |change|) over 24-hour changes of YES prices.
 */
export function sentiment(markets: Iterable<BoardMarket>, trend: MarketWideTrend): Sentiment {
  let upward = 0;
  let total = 0;
  let activeMarketCount = 0;
  const volumes = new Map<string, number>();
  const movers: { market: BoardMarket; move: number }[] = [];
  for (const market of markets) {
    if (market.listing.status !== "active" || market.yesPrice === null) continue;
    activeMarketCount += 1;
    const volume = market.activity.volume24hUsd ?? 0;
    const { category } = market.listing;
    if (category !== null && volume > 0) volumes.set(category, (volumes.get(category) ?? 0) + volume);
    const change = priceChange24h(market);
    if (change === null || change === 0) continue;
    total += volume * Math.abs(change);
    if (change > 0) upward += volume * change;
    movers.push({ market, move: Math.abs(change) });
  }
  const fearGreedIndex = total === 0 ? null : Math.round((100 * upward) / total);
  movers.sort((a, b) => b.move - a.move || (a.market.listing.marketId < b.market.listing.marketId ? -1 : 1));
  return {
    fearGreedIndex,
    marketRegime:
      fearGreedIndex === null
        ? "neutral"
        : fearGreedIndex >= RISK_ON_MIN
          ? "risk_on"
          : fearGreedIndex <= RISK_OFF_MAX
            ? "risk_off"
            : "neutral",
    volumeTrend: direction(trend.volumeUsd, trend.volumeBeforeUsd, "rising", "falling"),
    spreadTrend: direction(trend.spread, trend.spreadBefore, "widening", "tightening"),
    activeMarketCount,
    dominantCategory: [...volumes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null,
    topMovers: movers.slice(0, TOP_MOVERS).map(({ market }) => market),
  };
}

/** A difference of more than 10% counts as a direction. */
function direction<Up extends string, Down extends string>(
  now: number | null,
  before: number | null,
  up: Up,
  down: Down,
): Up | Down | "stable" | null {
  if (now === null || before === null || before === 0) return null;
  const ratio = now / before;
  return ratio > 1 + TREND_RATIO ? up : ratio < 1 - TREND_RATIO ? down : "stable";
}
