import { toIso } from "../../../lib/dates/iso-time.ts";
import type { PortfolioSize, SizeLimit } from "../../../trading/index.ts";
import { hedgePriceOf } from "../signals/index.ts";
import type { PortfolioSignal } from "./model.ts";

/** Minimum tail loss after the trade for medium and for high risk, as a share of the bankroll. */
const MEDIUM_RISK_MIN = 0.1;
const HIGH_RISK_MIN = 0.25;

export function presentPortfolioSignal(answer: PortfolioSignal) {
  const { market, analysisId, signal, size, positions, hedges, sizing } = answer;
  const { listing } = market;
  const adjustedUsd = size.share * sizing.bankrollUsd;
  const strongest = findStrongest(size.correlations);
  const position = strongest === null ? undefined : positions[strongest.index];
  const risk = size.expectedShortfallUsd / sizing.bankrollUsd;
  return {
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    recommendation: size.share > 0 ? signal.recommendation : ("NO_TRADE" as const),
    reason: explain(answer),
    target_price: signal.targetPrice,
    edge: signal.edge,
    confidence: signal.confidence,
    risk_rating: signal.riskRating,
    base_size_pct: signal.sizePct,
    adjusted_size_pct: size.share,
    adjusted_size_usd: adjustedUsd,
    adjusted_contracts: size.fill?.contracts ?? 0,
    portfolio_impact: {
      max_correlation: strongest?.correlation ?? null,
      correlated_with: position === undefined ? null : `${position.venue}/${position.marketId}`,
      concentration_delta: size.concentrationDelta,
      net_exposure_change: signal.recommendation === "BUY_NO" ? -adjustedUsd : adjustedUsd,
      portfolio_risk_level: risk < MEDIUM_RISK_MIN ? "low" : risk < HIGH_RISK_MIN ? "medium" : "high",
    } as const,
    hedge_recommendations: size.hedges.flatMap((hedge) => presentHedge(hedge, hedges)),
    analysis_id: analysisId,
    generated_at: toIso(signal.generatedAt),
    expires_at: toIso(signal.expiresAt),
  };
}

function presentHedge(
  { index, stakeUsd, reductionUsd }: PortfolioSize["hedges"][number],
  hedges: PortfolioSignal["hedges"],
) {
  const hedge = hedges[index];
  if (hedge === undefined) return [];
  const { market, side } = hedge;
  return [
    {
      market_id: market.listing.marketId,
      platform: market.listing.venue,
      title: market.listing.title,
      side,
      limit_price: hedgePriceOf(market, side),
      suggested_size_usd: stakeUsd,
      rationale: `Buying ${side.toUpperCase()} for ${usd(stakeUsd)} lowers the mean loss of the worst 5% of the outcomes by ${usd(reductionUsd)}.`,
    },
  ];
}

const usd = (amount: number): string => `$${amount.toFixed(2)}`;
const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;

/** Returns the position whose payoff is most correlated with the payoff of the trade; null if unknown. */
function findStrongest(correlations: readonly (number | null)[]) {
  let best: { readonly index: number; readonly correlation: number } | null = null;
  for (const [index, correlation] of correlations.entries())
    if (correlation !== null && correlation > (best?.correlation ?? -Infinity)) best = { index, correlation };
  return best;
}

function explain({ signal, size, sizing }: PortfolioSignal): string {
  const { share, droppedConstraints } = size;
  // A change that is not visible in the rounded figures is not mentioned.
  const isSame = share > 0 && percent(share) === percent(signal.sizePct);
  const limit = size.limit === "growth" && isSame ? "none" : size.limit;
  const change = `${percent(signal.sizePct)} to ${percent(share)} of the bankroll`;
  const verb = share < signal.sizePct ? "lowers" : "raises";
  const cap = percent(sizing.positionMax);
  const reasons: Readonly<Record<SizeLimit, string>> = {
    none: "The portfolio does not change the size.",
    no_trade: "",
    growth:
      share > 0
        ? `The expected growth of the whole portfolio ${verb} the size from ${change}.`
        : "Beside these positions any size lowers the expected growth of the portfolio.",
    position_max:
      share > 0
        ? `The size is ${percent(share)}: one position, together with those on the same or on excluded outcomes, is at most ${cap} of the bankroll.`
        : `Positions on the same or on excluded outcomes already use ${cap} of the bankroll, the most for one position.`,
    cash:
      share > 0
        ? `The size is ${percent(share)}: the positions leave no more of the bankroll.`
        : "The positions cost the whole bankroll, so nothing is left for a trade.",
    book: `The portfolio raises the size from ${change}: all that is offered up to the target price.`,
    min_order: "The size beside these positions is less than the smallest order of the market.",
    fee: "The fee of an order of the size beside these positions, which the venue rounds up, leaves no edge.",
  };
  const dropped =
    droppedConstraints > 0
      ? `${droppedConstraints} logical constraints between the markets were left out, because they contradict each other or allow too many outcomes.`
      : "";
  return [signal.reason, reasons[limit], dropped].filter((sentence) => sentence !== "").join(" ");
}
