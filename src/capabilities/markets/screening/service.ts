import { type BoardMarket, priceChange24h } from "../../../board/index.ts";
import { validResolutionTime } from "../../../domain/close-time.ts";
import { fromMicros, spreadOf, toMicros } from "../../../domain/price.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import { roundTo } from "../../../lib/numbers.ts";
import type { LastHour } from "../../../storage/index.ts";
import type { MarketDependencies, MarketEstimate } from "../ports.ts";
import { isVolumeSpike, priceTrendOf, type ScreenRequest, screenActionOf } from "./model.ts";
import type { ScreenedMarket } from "./schema.ts";
import { ScoreColumns } from "./score-columns.ts";

/** Decimals of scores, which are only estimates. */
const SCORE_DECIMALS = 4;
const HOUR_DECIMALS = 2;

interface ScreeningDependencies extends Pick<MarketDependencies, "board" | "clock"> {
  /** Returns the last hour of a market, or null if it is unknown. */
  readonly findLastHour: (market: BoardMarket) => LastHour | null;
  /** Returns our estimate of a market at its current price; null if there is none. */
  readonly estimateOf: (market: BoardMarket) => ScreenedEstimate | null;
}

/** The main figures of an estimate. */
interface ScreenedEstimate extends MarketEstimate {
  /** `probability` minus the displayed price. */
  readonly edge: number;
  /** In [0, 1]. */
  readonly confidence: number;
  readonly recommendation: string;
}

export type ScreeningService = ReturnType<typeof createScreeningService>;

/** Screens the active markets of the board. Create it before the board is filled, because it observes the board. */
export function createScreeningService({ board, clock, findLastHour, estimateOf }: ScreeningDependencies) {
  const columns = new ScoreColumns();
  board.observe(columns);

  const describe = (market: BoardMarket, exactScore: number, now: number): ScreenedMarket[] => {
    const { listing, activity, yesPrice } = market;
    if (yesPrice === null) return [];
    const score = roundTo(exactScore, SCORE_DECIMALS);
    const estimate = estimateOf(market);
    const lastHour = findLastHour(market);
    const resolutionAt = validResolutionTime(listing, now);
    const hours = resolutionAt === null ? null : Math.max(0, (resolutionAt - now) / HOUR_MS);
    return [
      {
        platform: listing.venue,
        market_id: listing.marketId,
        title: listing.title,
        yes_price: yesPrice,
        volume_24h: activity.volume24hUsd,
        score,
        category: listing.category ?? board.eventOf(market)?.listing.category ?? null,
        trend: priceTrendOf(priceChange24h(market)),
        volume_spike: isVolumeSpike(lastHour?.volumeUsd ?? null, activity.volume24hUsd),
        hours_to_resolution: hours === null ? null : roundTo(hours, HOUR_DECIMALS),
        bid_ask_spread: spreadOf(market.quote.bid, market.quote.ask),
        price_velocity_1h: priceMove(yesPrice, lastHour?.yesPriceBefore ?? null),
        cached_edge: estimate?.edge ?? null,
        model_probability: estimate?.probability ?? null,
        model_probability_at: estimate === null ? null : toIso(estimate.at),
        cached_confidence: estimate?.confidence ?? null,
        cached_recommendation: estimate?.recommendation ?? null,
        action: screenActionOf(score),
        updated_at: toIso(market.updatedAt),
      },
    ];
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
        .flatMap(({ row, score }) => [...board.rows([row])].flatMap((market) => describe(market, score, now)));
    },
  };
}

const priceMove = (price: number, before: number | null): number | null =>
  before === null ? null : fromMicros(toMicros(price) - toMicros(before));
