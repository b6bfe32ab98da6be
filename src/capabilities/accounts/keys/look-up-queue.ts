import { AppError } from "../../../domain/errors.ts";
import { TokenBucket } from "../../../lib/token-bucket.ts";
import type { Clock } from "../../../ports/clock.ts";

/** Maximum number of look-ups per query. */
export const LOOK_UPS_PER_QUERY_MAX = 512;
/** Maximum sustained rate. Full batches at this rate exceed the number of requests that one process can receive. */
const QUERIES_PER_SECOND = 100;
/** Maximum number of queries without delay after a pause, so that look-ups under normal load do not wait. */
export const QUERY_BURST = 20;
const RUNNING_QUERIES_MAX = 4;
/** Maximum number of waiting look-ups per lane. An IPv4 address or IPv6 /64 has at most 256 open requests. */
const LANE_LENGTH_MAX = 1_024;
const WAITING_MAX = 16_384;

interface Waiting<Key, Value> {
  readonly key: Key;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A bounded, fair queue of look-ups in the store. It sends at most `QUERIES_PER_SECOND`, for any number of clients with
 * unknown credentials.
 *
 * @param readBatch  returns the results of 1 to `LOOK_UPS_PER_QUERY_MAX` keys in the same order
 */
export function createLookUpQueue<Key, Value>(
  clock: Clock,
  readBatch: (keys: readonly Key[]) => Promise<readonly Value[]>,
) {
  const rate = { perSecond: QUERIES_PER_SECOND, capacity: QUERY_BURST };
  const queryTokens = new TokenBucket({ ...rate, now: clock.monotonic() });
  const firstLane: Waiting<Key, Value>[] = [];
  /** Lanes in round-robin order. No lane is empty. */
  const lanes = new Map<string, Waiting<Key, Value>[]>();
  let waitingCount = 0;
  let runningQueries = 0;
  let isTimerSet = false;

  const takeNext = (): Waiting<Key, Value> | undefined => {
    const first = firstLane.shift();
    if (first !== undefined) return first;
    for (const [lane, items] of lanes) {
      lanes.delete(lane);
      const item = items.shift();
      if (items.length > 0) lanes.set(lane, items);
      return item;
    }
    return undefined;
  };

  const takeBatch = (sizeMax: number): Waiting<Key, Value>[] => {
    const batch: Waiting<Key, Value>[] = [];
    while (batch.length < sizeMax) {
      const item = takeNext();
      if (item === undefined) break;
      batch.push(item);
    }
    waitingCount -= batch.length;
    return batch;
  };

  const runQuery = async () => {
    const batch = takeBatch(LOOK_UPS_PER_QUERY_MAX);
    runningQueries += 1;
    try {
      const values = await readBatch(batch.map(({ key }) => key));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
    } catch (error) {
      // Also rejects the waiting look-ups. Otherwise each further batch would run into the same timeout.
      for (const { reject } of [...batch, ...takeBatch(WAITING_MAX)]) reject(error);
    }
    runningQueries -= 1;
    startQueries();
  };

  const startQueries = () => {
    while (waitingCount > 0 && runningQueries < RUNNING_QUERIES_MAX && !isTimerSet) {
      const waitMs = queryTokens.take(clock.monotonic());
      if (waitMs === 0) {
        void runQuery();
        continue;
      }
      isTimerSet = true;
      clock.setTimeout(() => {
        isTimerSet = false;
        startQueries();
      }, waitMs);
    }
  };

  return {
    /**
     * Looks up a key, together with other keys in one query. Rejects with `store_unavailable` if the query fails or the
     * queue is full.
     *
     * @param lane  the IP address block of the caller. Lanes take turns, so that a flood of look-ups from one address
     *   does not delay those of others. Null if the key was valid before or its caller is trusted: these look-ups go
     *   first.
     */
    find(key: Key, lane: string | null): Promise<Value> {
      const items = lane === null ? firstLane : (lanes.get(lane) ?? []);
      if (waitingCount >= WAITING_MAX || (lane !== null && items.length >= LANE_LENGTH_MAX))
        return Promise.reject(new AppError("store_unavailable", "Too many credentials are waiting to be checked."));
      if (lane !== null && items.length === 0) lanes.set(lane, items);
      waitingCount += 1;
      const value = new Promise<Value>((resolve, reject) => items.push({ key, resolve, reject }));
      startQueries();
      return value;
    },
  };
}
