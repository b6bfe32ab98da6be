/** Computes each factor's evidence before its weight is applied. */
import { clampLambda } from "../../../src/engine/estimate.ts";
import { FACTORS } from "../../../src/engine/factors/index.ts";
import type { EngineCoefficients, FactorName, MarketView, Prior } from "../../../src/engine/model.ts";
import { computePrior, currentPrice } from "../../../src/engine/reference-price.ts";

/** Confidence times lambda (the factor's log-odds change), by factor. A factor that does not apply has no entry. */
export type FactorExposures = Readonly<Partial<Record<FactorName, number>>>;

/** Returns the prior and the factor exposures of a view; null if the view has no price. */
export function priorAndExposures(
  view: MarketView,
  coefficients: EngineCoefficients,
): { readonly prior: Prior; readonly exposures: FactorExposures } | null {
  const price = currentPrice(view);
  if (price === null) return null;
  const prior = computePrior(view, price, coefficients);
  const exposures = FACTORS.flatMap((factor) => {
    const reading = factor.evaluate(view, prior, coefficients);
    if (reading === null) return [];
    return [[factor.name, clampLambda(reading.lambda) * reading.confidence] as const];
  });
  return { prior, exposures: Object.fromEntries(exposures) };
}
