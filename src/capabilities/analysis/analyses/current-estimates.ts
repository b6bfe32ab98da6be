import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import {
  ENGINE_COEFFICIENTS,
  executableEdges,
  formatNumber,
  formatPercent,
  haveInputsMoved,
  isBound,
  type LogOddsChange,
  type PricedEstimate,
  peerGapOf,
  priceEstimate,
  priorFigures,
  recommend,
  reestimate,
  toProbability,
} from "../../../engine/index.ts";
import { GenerationCache } from "../../../lib/cache-by-object.ts";
import { sumOf } from "../../../lib/numbers.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { MatchedMarket } from "../../markets/matching/index.ts";
import { type EventAdjustment, EventEstimates, periodOf } from "./event-estimates.ts";
import { expiryByAge, freshnessOf } from "./freshness.ts";
import type { LatestEstimates } from "./latest-estimates.ts";
import { type MarketViews, toActivityView, toQuoteView } from "./market-views.ts";
import type { CurrentAnalysis, CurrentEstimate, Freshness, LatestEstimate, StoredAnalysis } from "./model.ts";

interface CurrentEstimatesPorts {
  readonly board: Pick<MarketBoard, "find" | "findEvent" | "marketsOfEvent" | "eventRevisionOf" | "isCurrent">;
  readonly clock: Pick<Clock, "now">;
  readonly latest: Pick<LatestEstimates, "find" | "observe">;
  readonly views: Pick<MarketViews, "traitsOf" | "peersOf" | "equalMarketsOf" | "pairsRevision" | "currentViewOf">;
}

/** The part of an estimate that only depends on its own market. */
interface OwnEstimate {
  readonly latest: LatestEstimate;
  readonly freshness: Freshness;
  readonly priced: PricedEstimate;
}

/** The fields of an estimate that lists contain. */
type ShownEstimate = Pick<CurrentEstimate, "probability" | "at">;

/** The shown estimate of a market, with the state that it was computed from. */
interface KeptEstimate {
  readonly analysesVersion: number;
  readonly eventRevision: number;
  readonly pairsRevision: number;
  readonly equalMarkets: readonly MatchedMarket[];
  readonly period: number;
  /** Unix milliseconds of the expiry by age; infinite if the analysis had already expired. */
  readonly expiresAt: number;
  readonly shown: ShownEstimate | null;
}

/** Maximum entries per generation of the kept estimates. */
const KEPT_ESTIMATES_MAX = 25_000;

/**
 * Our estimates at the current prices. An estimate is the price plus the change of the latest analysis, adjusted to the
 * estimates of the same event. All data is in memory, so that lists of a hundred markets can show estimates.
 */
export class CurrentEstimates {
  readonly #ports: CurrentEstimatesPorts;
  readonly #events: EventEstimates;
  readonly #kept = new GenerationCache<BoardMarket, KeptEstimate>(KEPT_ESTIMATES_MAX);
  #analysesVersion = 0;

  constructor(ports: CurrentEstimatesPorts) {
    this.#ports = ports;
    this.#events = new EventEstimates({
      board: ports.board,
      estimateOf: (market, siblingGap, now) => {
        const latest = ports.latest.find(market.listing.venue, market.listing.marketId);
        const own = latest === null ? null : this.#ownEstimate(market, latest, siblingGap, now);
        if (own === null || own.freshness === "expired") return null;
        const { logOdds, standardError } = own.priced;
        return { logOdds, standardError, isBound: isBound(market.quote) };
      },
    });
    ports.latest.observe(() => {
      this.#analysesVersion += 1;
      this.#events.onAnalysisChange();
    });
  }

  /**
   * Returns our estimate at the price of `market`; null if it is missing or expired, or if the market has a result or
   * no price.
   */
  find(market: BoardMarket): CurrentEstimate | null {
    const latest = this.#ports.latest.find(market.listing.venue, market.listing.marketId);
    return latest === null ? null : this.#findAt(market, latest, this.#ports.clock.now());
  }

  /**
   * Returns the probability and the time of `find`. They are kept until the market, its event, an equal market or an
   * analysis changes, and for at most a second (`periodOf`).
   */
  findShown(market: BoardMarket): ShownEstimate | null {
    const { board, clock, latest, views } = this.#ports;
    const now = clock.now();
    const kept = this.#kept.get(market);
    if (kept !== undefined && this.#isCurrent(kept, market, now)) return kept.shown;
    const analysis = latest.find(market.listing.venue, market.listing.marketId);
    if (analysis === null) return null;
    const found = this.#findAt(market, analysis, now);
    const shown = found && { probability: found.probability, at: found.at };
    // The clock of another process may be ahead; the time of the estimate is then that of the request.
    if (Math.max(market.updatedAt, analysis.analysedAt) > now) return shown;
    const expiresAt = expiryByAge(analysis);
    this.#kept.set(market, {
      analysesVersion: this.#analysesVersion,
      eventRevision: board.eventRevisionOf(market),
      pairsRevision: views.pairsRevision(),
      equalMarkets: views.equalMarketsOf(market),
      period: periodOf(now),
      expiresAt: expiresAt < now ? Number.POSITIVE_INFINITY : expiresAt,
      shown,
    });
    return shown;
  }

  #isCurrent(kept: KeptEstimate, market: BoardMarket, now: number): boolean {
    const { board, views } = this.#ports;
    return (
      kept.analysesVersion === this.#analysesVersion &&
      kept.pairsRevision === views.pairsRevision() &&
      kept.eventRevision === board.eventRevisionOf(market) &&
      kept.period === periodOf(now) &&
      now <= kept.expiresAt &&
      kept.equalMarkets.every((equal) => board.isCurrent(equal.market))
    );
  }

  /** Recomputes a stored analysis for the price of `market`; unchanged if the market has a result or no price. */
  move(stored: StoredAnalysis, market: BoardMarket | null): CurrentAnalysis {
    const now = this.#ports.clock.now();
    const { analysis } = stored.result;
    const latest = toLatestEstimate(stored);
    const own = market === null ? null : this.#ownEstimate(market, latest, this.#events.siblingGapOf(market), now);
    if (market === null || own === null) {
      const freshness = freshnessOf(latest, market?.yesPrice ?? null, now);
      return { ...stored, original: analysis, freshness, at: stored.analysedAt };
    }
    const agreement = own.freshness === "expired" ? null : this.#events.agreementOf(market, now);
    const current = reestimate(
      analysis,
      this.#ports.views.currentViewOf(market, now),
      agreement === null ? null : describeAgreement(agreement, own.priced),
      ENGINE_COEFFICIENTS,
    );
    return {
      ...stored,
      result: { ...stored.result, analysis: current ?? analysis },
      original: analysis,
      freshness: own.freshness,
      at: timeOf(market, stored.analysedAt, now),
    };
  }

  /** Whether the latest analysis of a market has expired; false without one. */
  isExpired(market: BoardMarket): boolean {
    const latest = this.#ports.latest.find(market.listing.venue, market.listing.marketId);
    if (latest === null) return false;
    const now = this.#ports.clock.now();
    return this.#ownEstimate(market, latest, this.#events.siblingGapOf(market), now)?.freshness === "expired";
  }

  #findAt(market: BoardMarket, latest: LatestEstimate, now: number): CurrentEstimate | null {
    const own = this.#ownEstimate(market, latest, this.#events.siblingGapOf(market), now);
    if (own === null || own.freshness === "expired") return null;
    const agreement = this.#events.agreementOf(market, now);
    const changes = agreement === null ? latest : { ...latest, change: latest.change + agreement.shift };
    const priced =
      agreement === null ? own.priced : priceEstimate(priceView(market, now), changes, ENGINE_COEFFICIENTS);
    if (priced === null) return null;
    const { probability, marketPrice, standardError, confidence } = priced;
    return {
      probability,
      yesPrice: marketPrice,
      edge: probability - marketPrice,
      standardError,
      confidence,
      recommendation: recommend(executableEdges(this.#offerOf(market, now), probability)),
      freshness: own.freshness,
      analysedAt: latest.analysedAt,
      at: timeOf(market, latest.analysedAt, now),
    };
  }

  #ownEstimate(market: BoardMarket, latest: LatestEstimate, siblings: number, now: number): OwnEstimate | null {
    if (market.listing.outcome !== null || market.yesPrice === null) return null;
    const view = priceView(market, now);
    const priced = priceEstimate(view, latest, ENGINE_COEFFICIENTS);
    if (priced === null) return null;
    const byPrice = freshnessOf(latest, priced.marketPrice, now);
    if (byPrice === "expired") return { latest, freshness: byPrice, priced };
    const prior = priorFigures(view, priced.marketPrice, ENGINE_COEFFICIENTS);
    const { adapter } = this.#ports.views.traitsOf(market.listing.venue);
    const peerView = { asOf: now, adapter, peers: this.#ports.views.peersOf(market, now) };
    const peers = peerGapOf(peerView, prior, ENGINE_COEFFICIENTS);
    const freshness = haveInputsMoved(latest, { peers, siblings }) ? "expired" : byPrice;
    return { latest, freshness, priced };
  }

  #offerOf(market: BoardMarket, now: number) {
    const { listing } = market;
    const kind = this.#ports.views.traitsOf(listing.venue).isPlayMoney ? ("play_money" as const) : ("money" as const);
    return { asOf: now, quote: toQuoteView(market, now), takerFee: listing.takerFee, kind };
  }
}

const priceView = (market: BoardMarket, now: number) => ({
  asOf: now,
  quote: toQuoteView(market, now),
  activity: toActivityView(market, now),
  prices: [],
});

const timeOf = ({ updatedAt }: BoardMarket, analysedAt: number, now: number): number =>
  Math.min(now, Math.max(updatedAt, analysedAt));

/** Converts a stored analysis to the form that is kept in memory. */
export const toLatestEstimate = ({
  venue,
  marketId,
  analysedAt,
  result: { analysis },
}: StoredAnalysis): LatestEstimate & MarketRef => ({
  venue,
  marketId,
  change: sumOf(analysis.changes.map(({ change }) => change)),
  changeError: analysis.changeError,
  dailyMove: analysis.dailyMove,
  marketPrice: analysis.marketPrice,
  interval: analysis.interval,
  gaps: analysis.gaps,
  analysedAt,
});

function describeAgreement({ logic, count, shift }: EventAdjustment, { logOdds }: PricedEstimate): LogOddsChange {
  const before = formatPercent(toProbability(logOdds));
  const after = formatPercent(toProbability(logOdds + shift));
  const isLadder = logic.kind === "ladder";
  return {
    name: "event_logic",
    claim: isLadder
      ? `The estimates of ${count} graded markets of this event contradict each other; the nearest consistent estimates give ${after}%.`
      : `The estimates of ${count} outcomes of this event do not sum to a possible value; scaled, this one has ${after}%.`,
    evidence: [
      `The estimate of this market alone is ${before}%, which differs by ${formatNumber(Math.abs(shift))} in log-odds.`,
      isLadder
        ? "Each market of the ladder implies the one before, so its probability cannot be higher."
        : logic.isExhaustive
          ? "Exactly one of the outcomes happens."
          : "At most one of the outcomes happens.",
    ],
    confidence: 1,
    change: shift,
  };
}
