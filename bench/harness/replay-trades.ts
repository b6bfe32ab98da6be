import type { createWorld } from "../../sandbox/world/index.ts";
import type { ListedMarket, WorldTrade } from "../../sandbox/world/types.ts";
import { type BoardMarket, MarketBoard } from "../../src/board/index.ts";
import { DEFAULT_ALERT_LIMITS } from "../../src/capabilities/events/market-alerts/index.ts";
import { classifyWhale } from "../../src/capabilities/events/market-alerts/log-alerts.ts";
import { WhaleDetector } from "../../src/capabilities/events/market-alerts/whale-detector.ts";
import type { Trade } from "../../src/domain/trade.ts";
import { DAY_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { isWhale, shareOfVolume } from "../../src/quant/alerts/whale.ts";
import { SAMPLE_AT, sampleMarket } from "../../test/support/markets/market-samples.ts";

const LIMITS = DEFAULT_ALERT_LIMITS.whale;
const TEMPLATE: BoardMarket = new MarketBoard(() => SAMPLE_AT).apply(sampleMarket("m"), SAMPLE_AT).market;

export interface AlertTotals {
  /** Market-days. */
  days: number;
  alarms: number;
  falseAlarms: number;
  planted: number;
  found: number;
}

export interface ReplayOptions {
  /** Days that are replayed. */
  readonly days: number;
  /** How often the service learns of a market's volume. */
  readonly volumeMinutes: number;
}

const usdOf = ({ takerSide, yesPrice, size }: WorldTrade) => (takerSide === "no" ? 1 - yesPrice : yesPrice) * size;

/**
 * Whether the trade is a whale by the documented rules. Computes the percentile from all trades of the previous week and
 * uses the exact daily volume; the detector approximates both.
 */
function isTrueWhale(usd: number, week: readonly WorldTrade[], volume24hUsd: number | null): boolean {
  const smaller = week.filter((trade) => usdOf(trade) < usd).length;
  const percentile = week.length === 0 ? null : (100 * smaller) / week.length;
  return isWhale(usd, percentile, shareOfVolume(usd, volume24hUsd), LIMITS);
}

/**
 * Feeds one market's trades to the detector, with the volume as the service knows it, and counts the alerts that the exact
 * figures do not confirm. Then plants a large order of one taker in three parts.
 */
export function replayTrades(
  world: ReturnType<typeof createWorld>,
  market: ListedMarket,
  { days, volumeMinutes }: ReplayOptions,
  totals: AlertTotals,
): void {
  const end = Math.min(market.closeAt, world.genesis) - 1;
  const from = Math.max(market.openAt, end - days * DAY_MS);
  if (end <= from) return;
  const watch = new WhaleDetector(LIMITS, () => {});
  const history = world.trades(market, from - 7 * DAY_MS, end);
  const weekBefore = (at: number) => history.filter((trade) => trade.at < at && trade.at >= at - 7 * DAY_MS);
  const volumeAt = (at: number) => world.activity(market, at).volume24hUsd;
  let volumeReadAt = Number.NEGATIVE_INFINITY;
  let board: BoardMarket = { ...TEMPLATE, listing: { ...TEMPLATE.listing, marketId: String(market.index) } };
  /** Returns the amounts and times of the new alerts. */
  const observe = (worldTrade: WorldTrade) => {
    const { at, id: tradeId, yesPrice, size, takerSide, taker } = worldTrade;
    if (at - volumeReadAt >= volumeMinutes * MINUTE_MS) {
      board = { ...board, activity: { ...board.activity, volume24hUsd: volumeAt(at - 1) } };
      volumeReadAt = at;
    }
    const trade: Trade = { tradeId, executedAt: at, yesPrice, size, takerSide, taker: String(taker) };
    watch.add(board, trade, false, at);
    const candidates = watch.peek(1);
    const announced = candidates.filter((candidate) => {
      const until = candidate.startedAt;
      const sizes =
        watch.findSizes(candidate, at) ?? watch.setSizes(board, weekBefore(until).map(usdOf), { until, now: at });
      return classifyWhale(candidate, sizes, LIMITS) !== null;
    });
    watch.settle(candidates, new Set(announced));
    return announced;
  };
  totals.days += (end - from) / DAY_MS;
  for (const trade of history) {
    if (trade.at < from) continue;
    for (const { usd, startedAt } of observe(trade)) {
      totals.alarms += 1;
      if (!isTrueWhale(usd, weekBefore(startedAt), volumeAt(startedAt - 1))) totals.falseAlarms += 1;
    }
  }
  const usd = Math.max(LIMITS.shareMinUsd, 1.2 * LIMITS.volumeShare * (volumeAt(end) ?? 0));
  totals.planted += 1;
  const parts = [0, 20_000, 40_000].map((delay, part) => ({
    id: `planted-${part}`,
    at: end + 5 * MINUTE_MS + delay,
    yesPrice: 0.5,
    size: usd / 1.5,
    takerSide: "yes" as const,
    taker: -1,
  }));
  if (parts.flatMap(observe).length > 0) totals.found += 1;
}
