import { appendEvents, type NewEvent } from "../../../event-log/index.ts";
import { DAY_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import { isWhale, shareOfVolume, type TradeSizes, type WhaleLimits } from "../../../quant/alerts/whale.ts";
import { readTradeAmounts } from "../../../storage/index.ts";
import { createWhaleEvent } from "./events.ts";
import type { WhaleCandidate } from "./model.ts";
import type { WhaleDetector } from "./whale-detector.ts";

const SIZES_MS = 7 * DAY_MS;
/** Maximum number of trades of a market whose sizes are read, the newest first. */
const SIZES_MAX = 20_000;
/** Candidates per batch. Each can read the sizes of a market, which takes some tens of milliseconds. */
const BATCH_MAX = 20;

/**
 * Compares the first candidates with the trades and the volume of their markets, and logs the exceptionally large ones.
 *
 * @returns number of new events
 * @throws AppError `store_unavailable`; the candidates then stay queued
 */
export async function logWhales(
  watch: WhaleDetector,
  ports: { readonly database: Database; readonly clock: Clock },
  limits: WhaleLimits,
): Promise<number> {
  const candidates = watch.peek(BATCH_MAX);
  const events = new Map<WhaleCandidate, NewEvent>();
  for (const candidate of candidates) {
    const sizes = await sizesOf(watch, ports, candidate);
    const event = classifyWhale(candidate, sizes, limits);
    if (event !== null) events.set(candidate, event);
  }
  const added =
    events.size === 0
      ? 0
      : await ports.database.transaction((transaction) => appendEvents(transaction, [...events.values()]));
  watch.settle(candidates, new Set(events.keys()));
  return added;
}

/**
 * Returns the event of an exceptionally large candidate, otherwise null.
 *
 * @param sizes  of the market's trades; null if unknown
 */
export function classifyWhale(
  candidate: WhaleCandidate,
  sizes: TradeSizes | null,
  limits: WhaleLimits,
): NewEvent | null {
  const percentile = sizes?.percentileOf(candidate.usd) ?? null;
  const share = shareOfVolume(candidate.usd, candidate.volume24hUsd);
  return isWhale(candidate.usd, percentile, share, limits) ? createWhaleEvent(candidate, { percentile, share }) : null;
}

/** Returns the sizes of the market's trades; null if the market is not stored yet. */
async function sizesOf(
  watch: WhaleDetector,
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  candidate: WhaleCandidate,
): Promise<TradeSizes | null> {
  const { market, startedAt: until } = candidate;
  const known = watch.findSizes(candidate, clock.now());
  if (known !== null || market.storeKey === null) return known;
  const range = { fromMs: until - SIZES_MS, toMs: until, limit: SIZES_MAX };
  const amounts = await readTradeAmounts(database, market.storeKey, range);
  return watch.setSizes(market, amounts, { until, now: clock.now() });
}
