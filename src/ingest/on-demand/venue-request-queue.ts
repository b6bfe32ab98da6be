import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import { CircuitBreaker } from "../../lib/circuit-breaker.ts";
import { currentCaller } from "../../lib/current-caller.ts";
import type { Clock } from "../../ports/clock.ts";

/** Limit of simultaneous requests per venue, so that clients do not use up the request budget of ingest. */
const RUNNING_PER_VENUE_MAX = 4;
/** One caller leaves places free for the others. */
const RUNNING_PER_CALLER_MAX = 3;
const WAITING_PER_CALLER_MAX = 100;
const WAITING_PER_VENUE_MAX = 1_000;
/** A venue that has failed this many times in a row is asked by one request a second until it answers. */
const FAILURES_MAX = 3;
const PROBE_EVERY_MS = 1_000;
/** Share of its time that a request may wait for its turn, so that the venue always has time to answer. */
const WAIT_SHARE_MAX = 0.5;
/** Caller of requests that the service makes for itself. */
const SERVICE = "";

type Start = () => void;

/** Requests to one venue. */
interface Lane {
  running: number;
  readonly runningByCaller: Map<string, number>;
  /** Functions that start the waiting requests, oldest first, by caller. The first caller has the next turn. */
  readonly waiting: Map<string, Set<Start>>;
  waitingCount: number;
  readonly breaker: CircuitBreaker;
}

const createLane = (): Lane => ({
  running: 0,
  runningByCaller: new Map(),
  waiting: new Map(),
  waitingCount: 0,
  breaker: new CircuitBreaker({ failuresMax: FAILURES_MAX, openMs: PROBE_EVERY_MS, openMsMax: PROBE_EVERY_MS }),
});

/**
 * Sends the requests that clients cause to the venues: few at a time, each with a deadline. Waiting callers take turns, so
 * that one caller with many requests delays another by one request. A venue that keeps failing is not asked.
 */
export class VenueRequestQueue {
  readonly #clock: Clock;
  readonly #lanes = new Map<VenueId, Lane>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs `send` when fewer than 4 requests to the venue and fewer than 3 of the caller are running.
   *
   * @param timeoutMs  time for the request, of which at most half is the wait for other requests to the same venue
   * @throws VenueError `timeout` if the venue does not answer in this time, `rate_limited` if the turn of the request did
   *   not come in half of it or 100 requests of the caller are waiting, `circuit_open` at once if the venue keeps failing, and the errors
   *   of `send`
   */
  async run<Result>(
    venue: VenueId,
    timeoutMs: number,
    send: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const lane = this.#lanes.get(venue) ?? createLane();
    this.#lanes.set(venue, lane);
    if (!lane.breaker.allows(this.#clock.monotonic()))
      throw new VenueError("circuit_open", `${venue} does not answer at present`, {
        retryable: true,
        retryAfterMs: PROBE_EVERY_MS,
      });
    const caller = currentCaller() ?? SERVICE;
    const deadline = new AbortController();
    const endOfWait = new AbortController();
    const cancelDeadline = this.#clock.setTimeout(() => deadline.abort(), timeoutMs);
    const cancelWait = this.#clock.setTimeout(() => endOfWait.abort(), timeoutMs * WAIT_SHARE_MAX);
    try {
      await waitForTurn(venue, lane, caller, endOfWait.signal).finally(cancelWait);
      try {
        const result = await this.#send(venue, send, deadline.signal);
        lane.breaker.recordSuccess();
        return result;
      } finally {
        end(lane, caller);
      }
    } catch (error) {
      this.#judge(lane.breaker, error);
      throw error;
    } finally {
      cancelDeadline();
    }
  }

  async #send<Result>(
    venue: VenueId,
    send: (signal: AbortSignal) => Promise<Result>,
    deadline: AbortSignal,
  ): Promise<Result> {
    try {
      // The adapter may not notice the signal, for example while it waits for a shared request.
      return await Promise.race([send(deadline), this.#rejectAfter(deadline)]);
    } catch (error) {
      if (!deadline.aborted || (error instanceof VenueError && error.failure === "rate_limited")) throw error;
      throw new VenueError("timeout", `${venue} did not respond in time`, { retryable: true, cause: error });
    }
  }

  /** Rejects after the signal, and after an adapter that notices the signal has rejected. */
  async #rejectAfter(signal: AbortSignal): Promise<never> {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await this.#clock.yieldToEventLoop();
    throw signal.reason;
  }

  /** A request that was not sent, and an answer that refuses a request, say nothing about the venue. */
  #judge(breaker: CircuitBreaker, error: unknown): void {
    const failure = error instanceof VenueError ? error.failure : null;
    if (failure === "client_error") breaker.recordSuccess();
    else if (failure === null || failure === "rate_limited") breaker.cancelProbe();
    else breaker.recordFailure(this.#clock.monotonic());
  }
}

/** Resolves when the request may start; the lane then counts it as running. */
function waitForTurn(venue: VenueId, lane: Lane, caller: string, signal: AbortSignal): Promise<void> {
  if (lane.waitingCount === 0 && canStart(lane, caller)) {
    begin(lane, caller);
    return Promise.resolve();
  }
  const waiting = lane.waiting.get(caller) ?? new Set<Start>();
  if (waiting.size >= WAITING_PER_CALLER_MAX || lane.waitingCount >= WAITING_PER_VENUE_MAX)
    throw new VenueError("rate_limited", `${venue}: too many requests are waiting`, { retryable: true });
  lane.waiting.set(caller, waiting);
  return new Promise((resolve, reject) => {
    const start = () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    const onAbort = () => {
      remove(lane, caller, start);
      reject(new VenueError("rate_limited", `${venue}: the request waited too long for its turn`, { retryable: true }));
    };
    signal.addEventListener("abort", onAbort, { once: true });
    waiting.add(start);
    lane.waitingCount += 1;
    startWaiting(lane);
  });
}

const canStart = (lane: Lane, caller: string): boolean =>
  lane.running < RUNNING_PER_VENUE_MAX && (lane.runningByCaller.get(caller) ?? 0) < RUNNING_PER_CALLER_MAX;

function begin(lane: Lane, caller: string): void {
  lane.running += 1;
  lane.runningByCaller.set(caller, (lane.runningByCaller.get(caller) ?? 0) + 1);
}

function end(lane: Lane, caller: string): void {
  lane.running -= 1;
  const running = (lane.runningByCaller.get(caller) ?? 1) - 1;
  if (running === 0) lane.runningByCaller.delete(caller);
  else lane.runningByCaller.set(caller, running);
  startWaiting(lane);
}

function remove(lane: Lane, caller: string, start: Start): void {
  const waiting = lane.waiting.get(caller);
  if (waiting?.delete(start) !== true) return;
  lane.waitingCount -= 1;
  if (waiting.size === 0) lane.waiting.delete(caller);
}

/** Starts waiting requests while there are places. The caller of a started request goes to the end of the turns. */
function startWaiting(lane: Lane): void {
  for (;;) {
    const caller = [...lane.waiting.keys()].find((candidate) => canStart(lane, candidate));
    const waiting = caller === undefined ? undefined : lane.waiting.get(caller);
    const [start] = waiting ?? [];
    if (caller === undefined || waiting === undefined || start === undefined) return;
    remove(lane, caller, start);
    if (waiting.size > 0) {
      lane.waiting.delete(caller);
      lane.waiting.set(caller, waiting);
    }
    begin(lane, caller);
    start();
  }
}
