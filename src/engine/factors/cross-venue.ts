import { HOUR_MS } from "../../lib/durations.ts";
import { usdScale } from "../../quant/liquidity.ts";
import { formatNumber, formatPercent, formatPrice } from "../format.ts";
import { toLogOdds, toProbability } from "../log-odds.ts";
import type { EngineCoefficients, Factor, MarketView, PeerView, Prior } from "../model.ts";
import { logOddsError, UNKNOWN_SPREAD } from "../reference-price.ts";

/** At this age or spread, the price of a peer has weight 0. */
const AGE_MS_MAX = 24 * HOUR_MS;
const SPREAD_MAX = 0.2;
/** Size weight of a real-money market without known liquidity and volume; size weight of play money and forecasts. */
const MONEY_WEIGHT_MIN = 0.1;
const OTHER_WEIGHT = 0.05;
const EVIDENCE_MAX = 5;

interface PeerGap {
  readonly peer: PeerView;
  /** Probability of this market's YES at the peer. */
  readonly probability: number;
  /** Difference of log-odds that exceeds the standard errors of both prices. */
  readonly gap: number;
  /** Share of the gap that the analysed market closes within a day. */
  readonly leadership: number;
  readonly size: number;
  readonly confidence: number;
  readonly error: number;
}

/**
 * The same question at other venues. A price moves part of the way to the prices of its peers:
 *
 * lambda = sum of w_i s_i g_i / sum of w_i, confidence = sum of u_i c_i / sum of u_i, w_i = u_i c_i
 *
 * - g_i: log-odds of the peer minus log-odds of this market, reduced towards 0 by the standard errors of both: prices
 *   whose spreads overlap do not contradict each other
 * - s_i: fitted share of a gap to this peer that this market closes within a day (`leadership`)
 * - u_i: 0.1 + 0.9 usdScale(liquidity or volume) for money, 0.05 for play money and forecasts
 * - c_i: match confidence, times (1 - spread / 0.2), times (1 - age / 24 h)
 *
 * @see Genest & Zidek (1986), "Combining Probability Distributions", Statistical Science 1(1) (logarithmic opinion
 *   pool)
 * @see Hasbrouck (1995), "One Security, Many Markets", Journal of Finance 50(4) (which venue leads)
 */
export const crossVenue: Factor = {
  name: "cross_venue",
  evaluate(view, prior, coefficients) {
    const gaps = view.peers
      .map((peer) => evaluatePeer(peer, view, prior, coefficients))
      .filter(({ confidence }) => confidence > 0);
    const size = sumOf(gaps, (gap) => gap.size);
    const weight = sumOf(gaps, (gap) => gap.size * gap.confidence);
    if (weight === 0) return null;
    const meanOf = (read: (gap: PeerGap) => number): number =>
      sumOf(gaps, (gap) => gap.size * gap.confidence * read(gap)) / weight;
    const lambda = meanOf(({ leadership, gap }) => leadership * gap);
    if (lambda === 0) return null;
    const pool = toProbability(meanOf(({ probability }) => toLogOdds(probability)));
    const venues = new Set(gaps.map(({ peer }) => peer.venue)).size;
    return {
      claim: `${venues === 1 ? "Another venue prices" : `${venues} other venues price`} the same question at ${formatPercent(pool)}%, against ${formatPercent(prior.probability)}% here.`,
      evidence: gaps.slice(0, EVIDENCE_MAX).map(describe),
      lambda,
      standardError:
        Math.sqrt(sumOf(gaps, (gap) => (gap.size * gap.confidence * gap.leadership * gap.error) ** 2)) / weight,
      confidence: weight / size,
    };
  },
};

/**
 * Difference between the peers' prices and the price: the mean of g_i, weighted by u_i c_i (`crossVenue`); 0 without a
 * peer.
 *
 * @param prior  log-odds of the price and their standard error
 */
export function peerGapOf(
  view: Pick<MarketView, "asOf" | "adapter" | "peers">,
  prior: Pick<Prior, "logOdds" | "standardError">,
  coefficients: Pick<EngineCoefficients, "leadership">,
): number {
  const gaps = view.peers.map((peer) => evaluatePeer(peer, view, prior, coefficients));
  const weight = sumOf(gaps, ({ size, confidence }) => size * confidence);
  return weight === 0 ? 0 : sumOf(gaps, ({ size, confidence, gap }) => size * confidence * gap) / weight;
}

function evaluatePeer(
  peer: PeerView,
  view: Pick<MarketView, "asOf" | "adapter">,
  prior: Pick<Prior, "logOdds" | "standardError">,
  coefficients: Pick<EngineCoefficients, "leadership">,
): PeerGap {
  const probability = toProbability(toLogOdds(peer.isInverse ? 1 - peer.yesPrice : peer.yesPrice));
  const error = logOddsError(probability, peer.spread);
  const difference = toLogOdds(probability) - prior.logOdds;
  const usd = Math.max(0, peer.liquidityUsd ?? 0, peer.volume24hUsd ?? 0);
  const freshness = 1 - Math.max(0, view.asOf - peer.at) / AGE_MS_MAX;
  const tightness = 1 - Math.max(0, peer.spread ?? UNKNOWN_SPREAD) / SPREAD_MAX;
  return {
    peer,
    probability,
    gap: Math.sign(difference) * Math.max(0, Math.abs(difference) - error - prior.standardError),
    leadership: leadershipOf(peer, view, coefficients.leadership),
    size: peer.kind === "money" ? MONEY_WEIGHT_MIN + (1 - MONEY_WEIGHT_MIN) * usdScale(usd) : OTHER_WEIGHT,
    confidence: peer.matchConfidence * Math.max(0, freshness) * Math.max(0, tightness),
    error,
  };
}

/** Returns the share for this pair of venues, else the default for the kind of the peer's price, else 0. */
function leadershipOf(
  peer: PeerView,
  { adapter }: Pick<MarketView, "adapter">,
  leadership: EngineCoefficients["leadership"],
): number {
  const own = adapter === null || peer.adapter === null ? undefined : leadership[adapter]?.[peer.adapter];
  return own ?? leadership.default?.[peer.kind] ?? 0;
}

function describe({ peer, probability, leadership }: PeerGap): string {
  const inverse = peer.isInverse ? " (from the opposite question)" : "";
  return `${peer.venue}: ${formatPrice(probability)}${inverse}, match confidence ${formatNumber(peer.matchConfidence)}; such a gap has closed by ${formatPercent(leadership)}% within a day.`;
}

const sumOf = (gaps: readonly PeerGap[], read: (gap: PeerGap) => number): number =>
  gaps.reduce((sum, gap) => sum + read(gap), 0);
