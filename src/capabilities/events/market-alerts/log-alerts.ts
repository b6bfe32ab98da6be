import { createHash } from "node:crypto";
import type { BoardMarket } from "../../../board/index.ts";
import type { PricePoint } from "../../../domain/trade.ts";
import { appendEvents, type NewEvent, selectEventsByKey } from "../../../event-log/index.ts";
import { DAY_MS, HOUR_MS } from "../../../lib/durations.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import {
  hourlySigma,
  isLargeMove,
  type PriceShiftAlert,
  type PriceShiftLimits,
  shiftSigmas,
} from "../../../quant/alerts/price-shift.ts";
import { isWhale, shareOfVolume, type TradeSizeHistogram, type WhaleLimits } from "../../../quant/alerts/whale.ts";
import { readHourlyCloses, readTradeAmounts } from "../../../storage/index.ts";
import { type PriceShiftDetector, type ShiftCandidate, shiftOriginOf } from "./price-shift-detector.ts";
import type { WhaleCandidate, WhaleDetector } from "./whale-detector.ts";

const TITLE_LENGTH_MAX = 1_000;
/** Maximum number of price shifts of a market in a clock hour. */
const SHIFTS_PER_HOUR_MAX = 10;
/** Period of hourly closing prices. With a half-life of 48 hours, earlier hours would have only 9% of the weight. */
const CLOSES_MS = 168 * HOUR_MS;
const HALF_LIFE_HOURS = 48;
/**
 * Maximum number of price shifts per batch. For each, a batch reads up to 168 closing prices and 30 keys, the keys
 * twice if there is an alert.
 */
const SHIFTS_PER_BATCH_MAX = 50;
const TRADE_SIZES_MS = 7 * DAY_MS;
/** Maximum number of trades per market whose sizes are read, newest first. */
const TRADE_SIZES_MAX = 20_000;
/** Maximum number of large trades per batch. Reading the trade sizes for one can take tens of milliseconds. */
const WHALES_PER_BATCH_MAX = 20;
/** Advisory lock of the transactions that log price shifts. */
const SHIFTS_LOCK_ID = "4713380642198337521";

interface ClassifiedShift {
  readonly sigma: number | null;
  readonly lastShift: PriceShiftAlert | null;
  readonly event: NewEvent | null;
}

/**
 * Compares the first queued candidates with the stored hourly moves of their markets, and logs the price shifts.
 *
 * @returns number of new events
 * @throws AppError `store_unavailable`; the candidates then stay queued
 */
export async function logPriceShifts(
  detector: PriceShiftDetector,
  database: Database,
  limits: PriceShiftLimits,
): Promise<number> {
  const candidates = detector.peek(SHIFTS_PER_BATCH_MAX);
  if (candidates.length === 0) return 0;
  const closes = await readCloses(database, candidates);
  const classifyAll = async (store: Pick<Database, "query">) => {
    const shifts = await readShifts(store, candidates);
    return candidates.map((candidate, index) =>
      classifyShift(candidate, closes.get(candidate.market.storeKey ?? -1) ?? [], shifts[index] ?? [], limits),
    );
  };
  const classified = await classifyAll(database);
  if (classified.every(({ event }) => event === null)) {
    detector.settle(classified);
    return 0;
  }
  // Another node may have logged the same moves since the read. If it logged them in another clock hour, the keys
  // differ, so the log would not reject duplicates.
  const { added, final } = await database.transaction(async (transaction) => {
    await transaction.query(`select pg_advisory_xact_lock(${SHIFTS_LOCK_ID})`);
    const repeated = await classifyAll(transaction);
    const events = repeated.flatMap(({ event }) => event ?? []);
    return { added: events.length === 0 ? 0 : await appendEvents(transaction, events), final: repeated };
  });
  detector.settle(final);
  return added;
}

function readCloses(database: Database, candidates: readonly ShiftCandidate[]) {
  const times = candidates.map(({ latest }) => latest.at);
  const range = { fromMs: Math.min(...times) - CLOSES_MS, toMs: Math.max(...times) };
  const keys = candidates.flatMap(({ market }) => market.storeKey ?? []);
  return readHourlyCloses(database, keys, range);
}

/** Returns the logged shifts of each candidate's market in the candidate's clock hour and the adjacent hours. */
async function readShifts(
  database: Pick<Database, "query">,
  candidates: readonly ShiftCandidate[],
): Promise<PriceShiftAlert[][]> {
  const keys = candidates.flatMap(({ market, latest }) => recentShiftKeys(market, latest.at));
  const events = await selectEventsByKey(database, keys);
  return candidates.map(({ market: { listing } }) =>
    events
      .filter((event) => event.venue === listing.venue && event.marketId === listing.marketId)
      .flatMap(({ occurredAt, payload }) => toEarlierShift(occurredAt, payload) ?? [])
      .sort((a, b) => a.at - b.at),
  );
}

/** @param shifts  the market's logged shifts in this clock hour, the previous and the next one, oldest first */
export function classifyShift(
  candidate: ShiftCandidate,
  closes: readonly PricePoint[],
  shifts: readonly PriceShiftAlert[],
  { minMove, minSigmas, sigmaFloor, minHours }: PriceShiftLimits,
): ClassifiedShift {
  const { latest } = candidate;
  const lastShift = shifts.at(-1) ?? null;
  // The hour of the move is excluded, because the move itself would raise the standard deviation.
  const before = closes.filter(({ at }) => at <= latest.at - HOUR_MS);
  const sigma = hourlySigma(before, HALF_LIFE_HOURS, minHours);
  const known = { sigma, lastShift, event: null };
  const hour = Math.floor(latest.at / HOUR_MS);
  const number = shifts.filter(({ at }) => Math.floor(at / HOUR_MS) === hour).length;
  if (sigma === null || number >= SHIFTS_PER_HOUR_MAX) return known;
  // After a restart, the last alert is only in the log.
  const old = shiftOriginOf(lastShift, latest.at) ?? candidate.old;
  if (!isLargeMove(old.yesPrice, latest.yesPrice, latest.at, lastShift, minMove)) return known;
  const sigmas = shiftSigmas(old.yesPrice, latest.yesPrice, sigma, sigmaFloor);
  if (Math.abs(sigmas) < minSigmas) return known;
  const shift = { at: latest.at, oldPrice: old.yesPrice, newPrice: latest.yesPrice };
  return { sigma, lastShift: shift, event: createPriceShiftEvent({ ...candidate, old }, { sigmas, number }) };
}

/**
 * Compares the first queued candidates with the trades and the volume of their markets, and logs the exceptionally
 * large trades.
 *
 * @returns number of new events
 * @throws AppError `store_unavailable`; the candidates then stay queued
 */
export async function logWhales(
  detector: WhaleDetector,
  ports: { readonly database: Database; readonly clock: Clock },
  limits: WhaleLimits,
): Promise<number> {
  const candidates = detector.peek(WHALES_PER_BATCH_MAX);
  const events = new Map<WhaleCandidate, NewEvent>();
  for (const candidate of candidates) {
    const sizes = await sizesOf(detector, ports, candidate);
    const event = classifyWhale(candidate, sizes, limits);
    if (event !== null) events.set(candidate, event);
  }
  const added =
    events.size === 0
      ? 0
      : await ports.database.transaction((transaction) => appendEvents(transaction, [...events.values()]));
  detector.settle(candidates, new Set(events.keys()));
  return added;
}

/**
 * Returns the event of an exceptionally large candidate, otherwise null.
 *
 * @param sizes  sizes of the market's trades; null if unknown
 */
export function classifyWhale(
  candidate: WhaleCandidate,
  sizes: TradeSizeHistogram | null,
  limits: WhaleLimits,
): NewEvent | null {
  const percentile = sizes?.percentileOf(candidate.usd) ?? null;
  const share = shareOfVolume(candidate.usd, candidate.volume24hUsd);
  return isWhale(candidate.usd, percentile, share, limits) ? createWhaleEvent(candidate, { percentile, share }) : null;
}

/** Returns the sizes of the market's trades; null if the market is not stored yet. */
async function sizesOf(
  detector: WhaleDetector,
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  candidate: WhaleCandidate,
): Promise<TradeSizeHistogram | null> {
  const { market, startedAt: until } = candidate;
  const known = detector.findSizes(candidate, clock.now());
  if (known !== null || market.storeKey === null) return known;
  const range = { fromMs: until - TRADE_SIZES_MS, toMs: until, limit: TRADE_SIZES_MAX };
  const amounts = await readTradeAmounts(database, market.storeKey, range);
  return detector.setSizes(market, amounts, { until, now: clock.now() });
}

/** Returns the key of a market's n-th price shift in a clock hour, with n from 0. The key is the same on every node. */
function shiftKey({ listing: { venue, marketId } }: BoardMarket, hour: number, number: number): string {
  return `price_shift/${hour}/${number}/${venue}/${marketId}`;
}

/** Returns the keys of all possible price shifts of a market in the clock hours before, at and after `at`. */
function recentShiftKeys(market: BoardMarket, at: number): string[] {
  const hour = Math.floor(at / HOUR_MS);
  return [hour - 1, hour, hour + 1].flatMap((each) =>
    Array.from({ length: SHIFTS_PER_HOUR_MAX }, (_, number) => shiftKey(market, each, number)),
  );
}

/** Returns the shift that a logged event describes; null if its payload has no prices. */
function toEarlierShift(occurredAt: number, payload: Readonly<Record<string, unknown>>): PriceShiftAlert | null {
  const { old_yes: oldPrice, new_yes: newPrice } = payload;
  if (typeof oldPrice !== "number" || typeof newPrice !== "number") return null;
  return { at: occurredAt, oldPrice, newPrice };
}

/** @param number  number of earlier price shifts of the market in the same clock hour */
export function createPriceShiftEvent(
  { market, old, latest }: ShiftCandidate,
  { sigmas, number }: { readonly sigmas: number; readonly number: number },
): NewEvent {
  return {
    type: "price_shift",
    key: shiftKey(market, Math.floor(latest.at / HOUR_MS), number),
    occurredAt: Math.round(latest.at),
    ...marketOf(market),
    payload: {
      ...describe(market),
      old_yes: old.yesPrice,
      new_yes: latest.yesPrice,
      change_pct: old.yesPrice === 0 ? null : toHundredths(100 * (latest.yesPrice / old.yesPrice - 1)),
      window_seconds: Math.max(0, Math.round((latest.at - old.at) / 1_000)),
      z_score: toHundredths(sigmas),
    },
  };
}

/**
 * @param figures.percentile  percentage of the market's trades that are smaller, in [0, 100]; null if unknown
 * @param figures.share  share of the 24-hour volume, in (0, 1]; null if unknown
 */
export function createWhaleEvent(
  { market, trades, executedAt, side, price, usd }: WhaleCandidate,
  { percentile, share }: { readonly percentile: number | null; readonly share: number | null },
): NewEvent {
  const { venue, marketId } = market.listing;
  // Hashes the trade id, because a venue's id can have any length and any characters.
  const trade = createHash("sha256")
    .update(trades[0]?.tradeId ?? "")
    .digest("base64url");
  return {
    type: "whale_alert",
    key: `whale_alert/${trade}/${venue}/${marketId}`,
    occurredAt: Math.round(executedAt),
    ...marketOf(market),
    payload: {
      ...describe(market),
      side,
      price: Math.round(price * 1e6) / 1e6,
      flow: toHundredths(usd),
      size_percentile: percentile === null ? null : toHundredths(percentile),
      share_of_volume_24h: share === null ? null : Math.round(share * 1e4) / 1e4,
    },
  };
}

const toHundredths = (value: number) => Math.round(value * 100) / 100;

const marketOf = ({ listing: { venue, marketId } }: BoardMarket) => ({ venue, marketId });

const describe = ({ listing: { venue, marketId, title } }: BoardMarket) => ({
  platform: venue,
  market_id: marketId,
  title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(),
});
