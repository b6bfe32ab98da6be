import { type BoardMarket, type MarketBoard, priceChange24h } from "../../../board/index.ts";
import { openResolutionTime } from "../../../domain/close-time.ts";
import { fromMicros, toMicros } from "../../../domain/price.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { LastHour } from "../../../storage/index.ts";
import { type Action, actionOf, isVolumeSpike, type ScreenRequest, type Trend, trendOf } from "./model.ts";
import { ScoreColumns, spreadOf } from "./score-columns.ts";

/** Scores have four digits: their parts are estimates. */
const SCORE_STEPS = 10_000;

export interface ScreeningPorts {
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Returns the last hour of a market, or null if it is unknown. */
  readonly findLastHour: (market: BoardMarket) => LastHour | null;
  /** Returns our estimate of a market at its current price, or null if there is none. */
  readonly estimateOf: (market: BoardMarket) => CachedEstimate | null;
}

/** The main figures of an estimate. */
export interface CachedEstimate {
  /** Unix milliseconds. */
  readonly at: number;
  /** In [0, 1]. */
  readonly probability: number;
  /** `probability` minus the displayed price. */
  readonly edge: number;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly recommendation: string;
}

/** One market of a screen. Unknown figures are null. */
export interface ScreenedMarket {
  readonly market: BoardMarket;
  /** In [0, 1], rounded to four digits. */
  readonly score: number;
  readonly category: string | null;
  readonly trend: Trend | null;
  readonly isVolumeSpike: boolean | null;
  /** At least 0. */
  readonly hoursToResolution: number | null;
  readonly spread: number | null;
  /** Price minus the price an hour ago. */
  readonly priceVelocity1h: number | null;
  readonly action: Action;
  readonly estimate: CachedEstimate | null;
}

export type ScreeningService = ReturnType<typeof createScreeningService>;

/** Screens the active markets of the board. Create it before the board is filled: it follows every change of the board. */
export function createScreeningService({ board, clock, findLastHour, estimateOf }: ScreeningPorts) {
  const columns = new ScoreColumns();
  board.observe(columns);

  const describe = (market: BoardMarket, exactScore: number, now: number): ScreenedMarket => {
    const score = Math.round(exactScore * SCORE_STEPS) / SCORE_STEPS;
    const { listing, activity } = market;
    const lastHour = findLastHour(market);
    const resolutionAt = openResolutionTime(listing, now);
    return {
      market,
      score,
      category: listing.category ?? board.eventOf(market)?.listing.category ?? null,
      trend: trendOf(priceChange24h(market)),
      isVolumeSpike: isVolumeSpike(lastHour?.volumeUsd ?? null, activity.volume24hUsd),
      hoursToResolution: resolutionAt === null ? null : Math.max(0, (resolutionAt - now) / HOUR_MS),
      spread: spreadOf(market),
      priceVelocity1h: priceMove(market.yesPrice, lastHour?.yesPriceBefore ?? null),
      action: actionOf(score),
      estimate: estimateOf(market),
    };
  };

  const keepMarkets = (rows: Uint32Array, markets: NonNullable<ScreenRequest["markets"]>): Uint32Array => {
    const kept = new Set(markets.flatMap(({ venue, marketId }) => board.find(venue, marketId)?.row ?? []));
    return rows.filter((row) => kept.has(row));
  };

  return {
    /** Returns the active markets that match, highest score first. Markets that accept no orders are left out. */
    screen(request: ScreenRequest): ScreenedMarket[] {
      const now = clock.now();
      const rows = board.findRows({ ...request, statuses: ["active"] });
      return columns
        .selectBest(request.markets === null ? rows : keepMarkets(rows, request.markets), request, now)
        .toArray()
        .flatMap(({ row, score }) => [...board.rows([row])].map((market) => describe(market, score, now)));
    },
  };
}

function priceMove(price: number | null, before: number | null): number | null {
  return price === null || before === null ? null : fromMicros(toMicros(price) - toMicros(before));
}
