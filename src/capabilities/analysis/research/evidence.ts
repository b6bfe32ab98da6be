import { toLogOdds } from "../../../engine/index.ts";
import { clamp } from "../../../lib/numbers.ts";
import { isSameClaim } from "./duplicates.ts";
import type { BeliefState, Claim, EvidenceStrength, SourceReliability } from "./model.ts";

export const LIKELIHOOD_RATIOS: Readonly<Record<EvidenceStrength, number>> = {
  weak: 1.25,
  moderate: 2,
  strong: 4,
  decisive: 10,
};
/** Factor of the log likelihood ratio, by reliability of the source. */
const RELIABILITY_SHARES: Readonly<Record<SourceReliability, number>> = { low: 0.3, medium: 0.7, high: 1 };
/** Maximum effects of one document and of one source on a trial's log-odds: that of decisive evidence. */
const DOCUMENT_EFFECT_MAX = Math.log(10);
const SOURCE_EFFECT_MAX = Math.log(10);

/**
 * Log likelihood ratio of a claim: ± ln(ratio of its class) times the factor of its reliability. Positive supports YES.
 */
export function claimEffect({ direction, strength, reliability }: Claim): number {
  const size = Math.log(LIKELIHOOD_RATIOS[strength]) * RELIABILITY_SHARES[reliability];
  return direction === "yes" ? size : -size;
}

/** Merges claims with the same content and direction; the strongest of them remains. */
export function mergeClaims(claims: readonly Claim[]): Claim[] {
  const merged: Claim[] = [];
  const strongestFirst = [...claims].sort((a, b) => Math.abs(claimEffect(b)) - Math.abs(claimEffect(a)));
  for (const claim of strongestFirst)
    if (!merged.some((other) => other.direction === claim.direction && isSameClaim(other.text, claim.text)))
      merged.push(claim);
  return merged;
}

/**
 * Effect of one source on a trial's log-odds: the sum of its claims' effects, clamped per document and per source. It
 * neither exceeds nor opposes the change that the model stated.
 *
 * @param shown  probability that the prompt stated before the source
 */
export function sourceEffect(belief: BeliefState, shown: number): number {
  const byDocument = new Map<string, number>();
  for (const claim of mergeClaims(belief.evidence))
    byDocument.set(claim.documentId, (byDocument.get(claim.documentId) ?? 0) + claimEffect(claim));
  let sum = 0;
  for (const effect of byDocument.values()) sum += clamp(effect, -DOCUMENT_EFFECT_MAX, DOCUMENT_EFFECT_MAX);
  const claimed = clamp(sum, -SOURCE_EFFECT_MAX, SOURCE_EFFECT_MAX);
  const stated = toLogOdds(belief.probability) - toLogOdds(shown);
  if (claimed * stated <= 0) return 0;
  return Math.sign(claimed) * Math.min(Math.abs(claimed), Math.abs(stated));
}
