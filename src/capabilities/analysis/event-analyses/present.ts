import type { BoardMarket } from "../../../board/index.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import { pollUrlOf } from "../analyses/index.ts";
import type { EventAnalysesService } from "./service.ts";

type Started = Awaited<ReturnType<EventAnalysesService["analyse"]>>;
type EventAnalysis = Awaited<ReturnType<EventAnalysesService["read"]>>;
type AnalysedMarket = EventAnalysis["markets"][number];
type ProbabilityMap = ReturnType<EventAnalysesService["mapProbabilities"]>;

const labelOf = ({ listing }: BoardMarket): string => listing.outcomeLabel ?? listing.title;

export function presentStart(slug: string, { runs, estimatedSeconds }: Started) {
  return {
    slug,
    status: "running" as const,
    poll_url: `/v1/events/${encodeURIComponent(slug)}/analysis`,
    estimated_seconds: estimatedSeconds,
    analyses: runs.map(({ market: { listing }, analysisId }) => ({
      market_id: listing.marketId,
      analysis_id: analysisId,
      poll_url: pollUrlOf({ analysisId, venue: listing.venue, marketId: listing.marketId }),
    })),
  };
}

export function presentEventAnalysis({ event, markets, generatedAt }: EventAnalysis) {
  const analysed = markets.filter(({ stored }) => stored !== null).length;
  return {
    slug: event.slug,
    title: event.listing.title,
    platform: event.listing.venue,
    market_count: markets.length,
    analyzed_count: analysed,
    summary: summarise(markets, analysed),
    markets: markets.map(presentMarket),
    generated_at: toIso(generatedAt),
  };
}

/** The analysis of a market; null if there is none, or it has expired. */
const usableOf = ({ stored }: AnalysedMarket) =>
  stored === null || stored.freshness === "expired" ? null : stored.result.analysis;

function presentMarket(analysed: AnalysedMarket) {
  const { market, stored } = analysed;
  const analysis = usableOf(analysed);
  return {
    market_id: market.listing.marketId,
    title: labelOf(market),
    market_price: market.yesPrice ?? 0,
    analysis_id: stored?.analysisId ?? null,
    model_probability: analysis?.probability ?? null,
    model_probability_at: stored === null || analysis === null ? null : toIso(stored.at),
    edge: analysis?.edge ?? null,
    confidence: analysis?.confidence ?? null,
    recommendation: analysis?.recommendation ?? null,
    analyzed_at: stored === null ? null : toIso(stored.analysedAt),
    freshness: stored?.freshness ?? null,
  };
}

function summarise(markets: readonly AnalysedMarket[], analysed: number): string {
  const edges = markets.flatMap((analysed) => {
    const analysis = usableOf(analysed);
    return analysis === null ? [] : [{ market: analysed.market, edge: analysis.edge }];
  });
  const [largest] = edges.sort((a, b) => Math.abs(b.edge) - Math.abs(a.edge));
  const counted = `${analysed} of ${markets.length} open markets are analysed.`;
  if (largest === undefined) return counted;
  const points = (100 * largest.edge).toFixed(1);
  return `${counted} The largest difference to the price is ${points} points, for "${labelOf(largest.market)}".`;
}

export function presentProbabilityMap({ event, outcomes, sum, isValid, setGap, generatedAt }: ProbabilityMap) {
  return {
    slug: event.slug,
    title: event.listing.title,
    platform: event.listing.venue,
    outcomes: outcomes.map(({ market, probability }) => ({
      market_id: market.listing.marketId,
      title: labelOf(market),
      market_price: market.yesPrice ?? 0,
      estimated_probability: probability,
      edge: probability === null ? null : probability - (market.yesPrice ?? 0),
    })),
    probability_sum: sum,
    probability_sum_valid: isValid,
    exhaustive: setGap === null,
    not_exhaustive_because: setGap,
    generated_at: toIso(generatedAt),
  };
}
