import { appendEvents, type NewEvent, selectEventsByKey } from "../../../event-log/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { Database } from "../../../ports/database.ts";
import {
  type EarlierShift,
  type HourlyClose,
  hourlySigma,
  isLargeMove,
  type PriceShiftLimits,
  shiftSigmas,
} from "../../../quant/alerts/price-shift.ts";
import { readHourlyCloses } from "../../../storage/index.ts";
import { createPriceShiftEvent, recentShiftKeys, SHIFTS_PER_HOUR_MAX, toEarlierShift } from "./events.ts";
import type { ShiftCandidate } from "./model.ts";
import { originOf, type PriceShiftDetector } from "./price-shift-detector.ts";
import { lockPriceShifts } from "./queries.ts";

/** Time for which hourly closes are read. With a half-life of 48 hours, earlier hours would have 9% of the weight. */
const CLOSES_MS = 168 * HOUR_MS;
const HALF_LIFE_HOURS = 48;
/** Candidates per batch: a batch reads up to 168 closes and 30 keys for each, the keys twice if there is an alert. */
const BATCH_MAX = 50;

interface Judgement {
  readonly sigma: number | null;
  readonly lastShift: EarlierShift | null;
  readonly event: NewEvent | null;
}

/**
 * Compares the first candidates with the stored hourly moves of their markets, and logs the price shifts.
 *
 * @returns number of new events
 * @throws AppError `store_unavailable`; the candidates then stay queued
 */
export async function logPriceShifts(
  watch: PriceShiftDetector,
  database: Database,
  limits: PriceShiftLimits,
): Promise<number> {
  const candidates = watch.peek(BATCH_MAX);
  if (candidates.length === 0) return 0;
  const closes = await readCloses(database, candidates);
  const classifyAll = async (store: Pick<Database, "query">) => {
    const shifts = await readShifts(store, candidates);
    return candidates.map((candidate, index) =>
      judge(candidate, closes.get(candidate.market.storeKey ?? -1) ?? [], shifts[index] ?? [], limits),
    );
  };
  const classified = await classifyAll(database);
  if (classified.every(({ event }) => event === null)) {
    watch.settle(classified);
    return 0;
  }
  // Another node may have logged the same moves since the read. If it logged them in another clock hour, the keys differ, so
  // the log would not reject ours.
  const { added, final } = await database.transaction(async (transaction) => {
    await lockPriceShifts(transaction);
    const repeated = await classifyAll(transaction);
    const events = repeated.flatMap(({ event }) => event ?? []);
    return { added: events.length === 0 ? 0 : await appendEvents(transaction, events), final: repeated };
  });
  watch.settle(final);
  return added;
}

function readCloses(database: Database, candidates: readonly ShiftCandidate[]) {
  const times = candidates.map(({ latest }) => latest.at);
  const range = { fromMs: Math.min(...times) - CLOSES_MS, toMs: Math.max(...times) };
  const keys = candidates.flatMap(({ market }) => market.storeKey ?? []);
  return readHourlyCloses(database, keys, range);
}

/** Returns the logged shifts of each candidate's market in its clock hour and the hours before and after. */
async function readShifts(
  database: Pick<Database, "query">,
  candidates: readonly ShiftCandidate[],
): Promise<EarlierShift[][]> {
  const keys = candidates.flatMap(({ market, latest }) => recentShiftKeys(market, latest.at));
  const events = await selectEventsByKey(database, keys);
  return candidates.map(({ market: { listing } }) =>
    events
      .filter((event) => event.venue === listing.venue && event.marketId === listing.marketId)
      .flatMap(({ occurredAt, payload }) => toEarlierShift(occurredAt, payload) ?? [])
      .sort((a, b) => a.at - b.at),
  );
}

/** @param shifts  the market's logged shifts of this clock hour and the ones before and after, oldest first */
export function judge(
  candidate: ShiftCandidate,
  closes: readonly HourlyClose[],
  shifts: readonly EarlierShift[],
  { minMove, minSigmas, sigmaFloor, minHours }: PriceShiftLimits,
): Judgement {
  const { latest } = candidate;
  const lastShift = shifts.at(-1) ?? null;
  // The hour of the move is left out, because the move itself would raise the standard deviation.
  const before = closes.filter(({ at }) => at <= latest.at - HOUR_MS);
  const sigma = hourlySigma(before, HALF_LIFE_HOURS, minHours);
  const known = { sigma, lastShift, event: null };
  const hour = Math.floor(latest.at / HOUR_MS);
  const number = shifts.filter(({ at }) => Math.floor(at / HOUR_MS) === hour).length;
  if (sigma === null || number >= SHIFTS_PER_HOUR_MAX) return known;
  // After a restart, the last alert is only in the log.
  const old = originOf(lastShift, latest.at) ?? candidate.old;
  if (!isLargeMove(old.yesPrice, latest.yesPrice, latest.at, lastShift, minMove)) return known;
  const sigmas = shiftSigmas(old.yesPrice, latest.yesPrice, sigma, sigmaFloor);
  if (Math.abs(sigmas) < minSigmas) return known;
  const shift = { at: latest.at, oldPrice: old.yesPrice, newPrice: latest.yesPrice };
  return { sigma, lastShift: shift, event: createPriceShiftEvent({ ...candidate, old }, { sigmas, number }) };
}
