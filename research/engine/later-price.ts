/** Compares how well the engine's probability and the current price predict later prices. */
import { type EngineCoefficients, estimate, type MarketView } from "../../src/engine/index.ts";
import { HOUR_MS } from "../../src/lib/durations.ts";
import { partitionPoint, sigmoid } from "../../src/lib/numbers.ts";
import { squaredError } from "../../src/quant/calibration.ts";
import { type ConfidenceInterval, clusteredRatio, type RatioTerm } from "../../src/quant/clustered-ratio.ts";

const LATER_HOURS = [1, 24, 168] as const;

/** A market with a price at one time, and its later prices. */
export interface LaterPriceCase {
  /** Id of the contract; the same at all venues. */
  readonly group: string;
  /** Id of the event or contest that the contract belongs to. */
  readonly event: string;
  readonly view: MarketView;
  /** Returns the price `hours` later; null if none is recorded. */
  priceAfter(hours: number): number | null;
}

/**
 * Ratio of two sums of squared errors against a later price: that of the probabilities, divided by that of the current
 * price. Below 1, the probabilities predict the later price better.
 */
export interface LaterPriceScore {
  readonly hours: number;
  readonly n: number;
  /** With a 95% interval clustered by contract. */
  readonly ratio: ConfidenceInterval | null;
  /** The same ratio, with a 95% interval clustered by event. */
  readonly ratioByEvent: ConfidenceInterval | null;
}

export interface LaterPriceScores {
  readonly model: readonly LaterPriceScore[];
  /** Scores of the prior alone (`prior`), and of the prior with a single factor, by factor name. */
  readonly parts: ReadonlyMap<string, readonly LaterPriceScore[]>;
}

interface Errors {
  readonly group: string;
  readonly event: string;
  readonly error: number;
  readonly priceError: number;
}

/** Scores the engine against later prices. The coefficients may differ by case, for out-of-fold scores. */
export function scoreLaterPrices(
  cases: Iterable<LaterPriceCase>,
  coefficientsOf: (later: LaterPriceCase) => EngineCoefficients,
): LaterPriceScores {
  const errors = new Map<string, Errors[]>();
  for (const later of cases) {
    const result = estimate(later.view, coefficientsOf(later));
    if (result === null) continue;
    const { prior, steps, marketPrice } = result;
    const parts = [
      ["model", result.probability],
      ["prior", prior.probability],
      ...steps.map(({ name, change }) => [name, sigmoid(prior.logOdds + change)] as const),
    ] as const;
    for (const hours of LATER_HOURS) {
      const price = later.priceAfter(hours);
      if (price === null) continue;
      const priceError = squaredError(marketPrice, price);
      for (const [name, probability] of parts) {
        const key = `${name} ${hours}`;
        const list = errors.get(key) ?? [];
        list.push({ group: later.group, event: later.event, error: squaredError(probability, price), priceError });
        errors.set(key, list);
      }
    }
  }
  const names = new Set([...errors.keys()].map((key) => key.split(" ")[0] ?? ""));
  names.delete("model");
  const scoresOf = (name: string) => LATER_HOURS.map((hours) => toScore(hours, errors.get(`${name} ${hours}`) ?? []));
  return { model: scoresOf("model"), parts: new Map([...names].map((name) => [name, scoresOf(name)])) };
}

function toScore(hours: number, errors: readonly Errors[]): LaterPriceScore {
  const terms = (clusterOf: (item: Errors) => string): RatioTerm[] =>
    errors.map((item) => ({ group: clusterOf(item), numerator: item.error, denominator: item.priceError }));
  return {
    hours,
    n: errors.length,
    ratio: clusteredRatio(terms(({ group }) => group)),
    ratioByEvent: clusteredRatio(terms(({ event }) => event)),
  };
}

/** Maximum time between the due time of a later price and the recorded price that is used for it. */
const toleranceMs = (hours: number): number => Math.max(1, hours / 4) * HOUR_MS;

/**
 * Returns the first price at least `hours` after `from`; null if there is none within `toleranceMs`. `prices` must be
 * in time order.
 */
export function findLaterPrice(
  prices: readonly { readonly at: number; readonly yesPrice: number | null }[],
  from: number,
  hours: number,
): number | null {
  const due = from + hours * HOUR_MS;
  for (let index = partitionPoint(prices, ({ at }) => at < due); index < prices.length; index++) {
    const price = prices[index];
    if (price === undefined || price.at > due + toleranceMs(hours)) return null;
    if (price.yesPrice !== null) return price.yesPrice;
  }
  return null;
}
