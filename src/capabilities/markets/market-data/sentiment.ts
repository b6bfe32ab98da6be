import { type BoardMarket, priceChange24h } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import type { MarketWideTrend } from "../../../storage/index.ts";

export interface Sentiment {
  /** From 0 (all volume-weighted 24-hour price changes are negative) to 100 (all positive); null if none is known. */
  readonly fearGreedIndex: number | null;
  /** Null if the index is null. */
  readonly marketRegime: "risk_on" | "risk_off" | "neutral" | null;
  readonly volumeTrend: "rising" | "falling" | "stable" | null;
  readonly spreadTrend: "widening" | "tightening" | "stable" | null;
  readonly activeMarketCount: number;
  readonly dominantCategory: string | null;
  readonly topMovers: readonly BoardMarket[];
}

const RISK_ON_MIN = 60;
const RISK_OFF_MAX = 40;
const TREND_DIFFERENCE_MIN = 0.1;
const TOP_MOVER_COUNT = 10;

/** Minimum share of markets whose price 24 hours ago is known. Below it, the history has not been loaded yet. */
const KNOWN_SHARE_MIN = 0.5;

/**
 * Computes the sentiment over all active markets. Until the history of half of them is loaded, the index, the regime
 * and the trends are null, and there are no top movers: the few known changes would not be representative.
 *
 * fear_greed_index = 100 * (sum of volume * rise) / (sum of volume * |change|) over 24-hour changes of YES prices.
 */
export function computeSentiment(markets: Iterable<BoardMarket>, trend: MarketWideTrend): Sentiment {
  let upwardWeight = 0;
  let totalWeight = 0;
  let activeMarketCount = 0;
  let knownCount = 0;
  const volumes = new Map<string, number>();
  const movers: { market: BoardMarket; move: number }[] = [];
  for (const market of markets) {
    if (market.listing.status !== "active" || market.yesPrice === null) continue;
    activeMarketCount += 1;
    const volume = market.activity.volume24hUsd ?? 0;
    const category = categoryOf(market.listing.category);
    if (category !== null && volume > 0) volumes.set(category, (volumes.get(category) ?? 0) + volume);
    const change = priceChange24h(market);
    if (change !== null) knownCount += 1;
    if (change === null || change === 0) continue;
    totalWeight += volume * Math.abs(change);
    if (change > 0) upwardWeight += volume * change;
    movers.push({ market, move: Math.abs(change) });
  }
  const isLoaded = knownCount > 0 && knownCount >= KNOWN_SHARE_MIN * activeMarketCount;
  const fearGreedIndex = !isLoaded || totalWeight === 0 ? null : Math.round((100 * upwardWeight) / totalWeight);
  movers.sort((a, b) => b.move - a.move || (a.market.listing.marketId < b.market.listing.marketId ? -1 : 1));
  return {
    fearGreedIndex,
    marketRegime:
      fearGreedIndex === null
        ? null
        : fearGreedIndex >= RISK_ON_MIN
          ? "risk_on"
          : fearGreedIndex <= RISK_OFF_MAX
            ? "risk_off"
            : "neutral",
    volumeTrend: !isLoaded ? null : directionOf(trend.volumeUsd, trend.volumeBeforeUsd, "rising", "falling"),
    spreadTrend: !isLoaded ? null : directionOf(trend.spread, trend.spreadBefore, "widening", "tightening"),
    activeMarketCount,
    dominantCategory: [...volumes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null,
    topMovers: !isLoaded ? [] : movers.slice(0, TOP_MOVER_COUNT).map(({ market }) => market),
  };
}

/** Returns `up` or `down` if the value differs by more than 10% from the previous value, otherwise "stable". */
function directionOf<Up extends string, Down extends string>(
  currentValue: number | null,
  previousValue: number | null,
  up: Up,
  down: Down,
): Up | Down | "stable" | null {
  if (currentValue === null || previousValue === null || previousValue === 0) return null;
  const ratio = currentValue / previousValue;
  return ratio > 1 + TREND_DIFFERENCE_MIN ? up : ratio < 1 - TREND_DIFFERENCE_MIN ? down : "stable";
}
