import { HOUR_MS } from "../../src/lib/durations.ts";
import { clamp, logit, sigmoid } from "../../src/lib/numbers.ts";
import type { ActivityClock } from "./activity-clock.ts";
import type { GroundTruth } from "./list-event.ts";
import { snapToBands } from "./price-bands.ts";
import { extendHash, gaussianFromHash, hashKeys, uniform, uniformFromHash } from "./random.ts";
import { trueProbability } from "./truth.ts";
import type { BookState, Level, ListedMarket, SandboxVenue } from "./types.ts";

const LEVELS_PER_SIDE = 6;
/** Distance between the levels of an order book whose price step is below 0.01 at all prices. */
const LEVEL_GAP = 0.004;
/** Wavelengths of the quote error, in slots. */
const ERROR_WAVELENGTHS = [64, 16, 4, 1] as const;
const PROBABILITY_MIN = 0.003;

/**
 * Parameters by which the quotes of a venue deviate from the true probability.
 * - `compression`: factor on log-odds; below 1 it pulls prices towards one half (favourite-longshot bias)
 * - `error`: standard deviation of the quote error in log-odds
 * - `lagMs`: delay after which quotes reflect information, in activity time
 */
const QUOTE_PARAMETERS: Readonly<Record<SandboxVenue, { compression: number; error: number; lagMs: number }>> = {
  polymarket: { compression: 0.95, error: 0.05, lagMs: 0.1 * HOUR_MS },
  kalshi: { compression: 0.93, error: 0.07, lagMs: 0.4 * HOUR_MS },
  limitless: { compression: 0.92, error: 0.1, lagMs: 1 * HOUR_MS },
  manifold: { compression: 0.9, error: 0.14, lagMs: 3 * HOUR_MS },
};

/**
 * Share of the slots in which the quotes of a market are displaced, and the displacement in log-odds. Only events with
 * several markets have such slots, in which the prices of their markets contradict each other.
 */
const DISPLACED_SHARE = 0.005;
const DISPLACEMENT = { min: 0.3, max: 0.9 } as const;

/**
 * Hash keys by purpose of the random number; they must differ from the keys in order-flow.ts and market-simulator.ts.
 */
const Draw = { error: 3, spread: 4, levelSize: 5, displaced: 16 } as const;

export type Quotes = Pick<BookState, "bids" | "asks">;

/** Applies the venue's favourite-longshot bias to a true probability, without lag and error. */
export function biasedProbability(venue: SandboxVenue, probability: number): number {
  return sigmoid(QUOTE_PARAMETERS[venue].compression * clampedLogit(probability));
}

const clampedLogit = (probability: number): number => logit(clamp(probability, PROBABILITY_MIN, 1 - PROBABILITY_MIN));

export type MarketMaker = ReturnType<typeof createMarketMaker>;

/**
 * Creates the market maker of one market. The quotes are constant within a slot.
 * @param size `depth`: mean contracts per level; `halfSpread`: typical distance of the best prices from the probability
 */
export function createMarketMaker(
  { venue, index, tick, bands, event }: ListedMarket,
  { process, criterion, tradingEndsAt }: GroundTruth,
  {
    seed,
    clock,
    hasDisplacedQuotes,
  }: { readonly seed: number; readonly clock: ActivityClock; readonly hasDisplacedQuotes: boolean },
  { depth, halfSpread }: { readonly depth: number; readonly halfSpread: number },
) {
  /** Returns the quote error in standard deviations: linearly interpolated noise, summed over several wavelengths. */
  const errorOf = (slot: number): number => {
    const key = hashKeys(seed, index, Draw.error);
    let sum = 0;
    for (const wavelength of ERROR_WAVELENGTHS) {
      const point = Math.floor(slot / wavelength);
      const share = slot / wavelength - point;
      const waveKey = extendHash(key, wavelength);
      const atPoint = gaussianFromHash(extendHash(waveKey, point));
      sum += share === 0 ? atPoint : atPoint * (1 - share) + gaussianFromHash(extendHash(waveKey, point + 1)) * share;
    }
    return sum / Math.sqrt(ERROR_WAVELENGTHS.length);
  };
  const displacementOf = (slot: number): number => {
    if (!hasDisplacedQuotes || event.markets.length < 2) return 0;
    const key = extendHash(hashKeys(seed, index, Draw.displaced), slot);
    if (uniformFromHash(key) >= DISPLACED_SHARE) return 0;
    const share = 2 * uniformFromHash(extendHash(key, 1)) - 1;
    return Math.sign(share) * (DISPLACEMENT.min + (DISPLACEMENT.max - DISPLACEMENT.min) * Math.abs(share));
  };
  return {
    /** Unrounded centre of the quotes of a slot: the true probability with lag, bias, error and displacement. */
    probability(slot: number, startAt: number): number {
      const { compression, error, lagMs } = QUOTE_PARAMETERS[venue];
      const activity = clock.toActivity(startAt);
      let logOdds = 0;
      for (const share of [0.3, 1]) {
        const at = Math.min(clock.toWall(activity - share * lagMs), tradingEndsAt - 1);
        logOdds += clampedLogit(trueProbability(process, criterion, at)) / 2;
      }
      return sigmoid(compression * logOdds + error * errorOf(slot) + displacementOf(slot));
    },
    quotes(slot: number, probability: number): Quotes {
      const spreadFactor = 0.6 + 0.8 * uniform(seed, index, Draw.spread, slot);
      const slotHalfSpread = halfSpread * spreadFactor * (0.4 + 2.4 * probability * (1 - probability));
      const ticks = Math.round(1 / tick);
      const bestBid = Math.min(ticks - 2, Math.floor((probability - slotHalfSpread) * ticks));
      const bestAsk = Math.max(bestBid + 1, Math.ceil((probability + slotHalfSpread) * ticks));
      const levelGapTicks = bands.length > 1 ? 1 : Math.max(1, Math.round(LEVEL_GAP / tick));
      const key = extendHash(hashKeys(seed, index, Draw.levelSize), slot);
      const createSide = (best: number, direction: 1 | -1): Level[] => {
        const levels: Level[] = [];
        const sideKey = extendHash(key, direction === 1 ? 1 : 0);
        const snap = (price: number) => snapToBands(bands, price, direction === 1 ? "up" : "down");
        let price = snap(best / ticks);
        for (let level = 0; level < LEVELS_PER_SIDE; level++) {
          if (price <= 0 || price >= 1) break;
          const noise = Math.exp(0.5 * gaussianFromHash(extendHash(sideKey, level)));
          levels.push({
            price,
            size: Math.max(1, Math.round(depth * (0.6 + 0.5 * level) * noise)),
          });
          price = snap(price + direction * levelGapTicks * tick);
        }
        return levels;
      };
      return { bids: createSide(bestBid, -1), asks: createSide(bestAsk, 1) };
    },
  };
}
