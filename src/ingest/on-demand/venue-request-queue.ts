import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { Clock } from "../../ports/clock.ts";

/** Limit of simultaneous requests per venue, so that clients do not use up the request budget of ingest. */
const RUNNING_PER_VENUE_MAX = 4;
const WAITING_PER_VENUE_MAX = 100;

/** Requests to one venue: the number of running ones, and functions that start the waiting ones, oldest first. */
interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

/** Sends the requests that clients cause to the venues: few at a time, others in order, each with a deadline. */
export class VenueRequestQueue {
  readonly #clock: Clock;
  readonly #lanes = new Map<VenueId, Lane>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs `send` when fewer than 4 requests to the venue are running.
   *
   * @param timeoutMs  time for the request, including the wait for other requests to the same venue
   * @throws VenueError `timeout` after this time, `rate_limited` if 100 requests are waiting, and the errors of `send`
   */
  async run<Result>(
    venue: VenueId,
    timeoutMs: number,
    send: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const deadline = new AbortController();
    const cancelDeadline = this.#clock.setTimeout(() => deadline.abort(), timeoutMs);
    const lane = this.#lanes.get(venue) ?? { running: 0, waiting: new Set() };
    this.#lanes.set(venue, lane);
    try {
      await waitForTurn(venue, lane, deadline.signal);
      try {
        // The adapter may not notice the signal, for example while it waits for a shared request.
        return await Promise.race([send(deadline.signal), rejectOnAbort(deadline.signal)]);
      } finally {
        startNext(lane);
      }
    } catch (error) {
      if (!deadline.signal.aborted) throw error;
      throw new VenueError("timeout", `${venue} did not respond in time`, { retryable: true, cause: error });
    } finally {
      cancelDeadline();
    }
  }
}

/** Resolves when the request may start; `lane.running` then includes it. */
function waitForTurn(venue: VenueId, lane: Lane, signal: AbortSignal): Promise<void> {
  if (lane.running < RUNNING_PER_VENUE_MAX) {
    lane.running += 1;
    return Promise.resolve();
  }
  if (lane.waiting.size >= WAITING_PER_VENUE_MAX)
    throw new VenueError("rate_limited", `${venue}: too many requests are waiting`, { retryable: true });
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      lane.waiting.delete(resolve);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    lane.waiting.add(resolve);
  });
}

/** Ends a request: the next waiting request takes its place. */
function startNext(lane: Lane): void {
  const [start] = lane.waiting;
  if (start === undefined) lane.running -= 1;
  else {
    lane.waiting.delete(start);
    start();
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
