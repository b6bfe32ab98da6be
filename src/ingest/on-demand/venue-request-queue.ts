import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import { CircuitBreaker } from "../../lib/circuit-breaker.ts";
import { currentCaller } from "../../lib/current-caller.ts";
import { FairSlots, QueueFullError, type Release } from "../../lib/fair-slots.ts";
import type { Clock } from "../../ports/clock.ts";

/** Limit of simultaneous requests per venue, so that clients do not use up the request budget of ingest. */
const RUNNING_PER_VENUE_MAX = 4;
/** Below the limit of the venue, so that one caller never uses all of its requests. */
const RUNNING_PER_CALLER_MAX = 3;
const WAITING_PER_CALLER_MAX = 100;
const WAITING_PER_VENUE_MAX = 1_000;
/** After this many failures in a row, one request per second is sent to the venue until it answers. */
const FAILURES_MAX = 3;
const PROBE_EVERY_MS = 1_000;
/** Share of its time that a request may wait for its turn, so that the venue always has time to answer. */
const WAIT_SHARE_MAX = 0.5;
/** Caller of requests that the service makes for itself. */
const SERVICE = "";

const createLane = () => ({
  slots: new FairSlots({
    slots: RUNNING_PER_VENUE_MAX,
    perKey: RUNNING_PER_CALLER_MAX,
    waiting: WAITING_PER_VENUE_MAX,
    waitingPerKey: WAITING_PER_CALLER_MAX,
  }),
  breaker: new CircuitBreaker({ failuresMax: FAILURES_MAX, openMs: PROBE_EVERY_MS, openMsMax: PROBE_EVERY_MS }),
});

/**
 * Sends the requests that clients cause to the venues: few at a time, each with a deadline. Waiting callers take turns, so
 * that one caller with many requests delays another by one request. A venue that keeps failing is not asked.
 */
export class VenueRequestQueue {
  readonly #clock: Clock;
  readonly #lanes = new Map<VenueId, ReturnType<typeof createLane>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Runs `send` when fewer than 4 requests to the venue and fewer than 3 of the caller are running.
   *
   * @param timeoutMs  time for the request, of which at most half is the wait for other requests to the same venue
   * @throws VenueError `timeout` if the venue does not answer in this time; `rate_limited` if the request waited for half
   *   of it, or if 100 requests of the caller are waiting; `circuit_open` at once if the venue keeps failing
   * @throws the errors of `send`
   */
  async run<Result>(
    venue: VenueId,
    timeoutMs: number,
    send: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const lane = this.#lanes.get(venue) ?? createLane();
    this.#lanes.set(venue, lane);
    if (!lane.breaker.mayAllow(this.#clock.monotonic())) throw createOpenError(venue);
    const deadline = new AbortController();
    const endOfWait = new AbortController();
    const cancelDeadline = this.#clock.setTimeout(() => deadline.abort(), timeoutMs);
    const cancelWait = this.#clock.setTimeout(() => endOfWait.abort(), timeoutMs * WAIT_SHARE_MAX);
    try {
      const release = await this.#waitForTurn(venue, lane.slots, endOfWait.signal).finally(cancelWait);
      try {
        // Other requests may have failed during the wait.
        if (!lane.breaker.allows(this.#clock.monotonic())) throw createOpenError(venue);
        return await this.#sendJudged(venue, lane.breaker, send, deadline.signal);
      } finally {
        release();
      }
    } finally {
      cancelDeadline();
    }
  }

  async #waitForTurn(venue: VenueId, slots: FairSlots, endOfWait: AbortSignal): Promise<Release> {
    try {
      return await slots.acquire(currentCaller() ?? SERVICE, endOfWait);
    } catch (cause) {
      const reason = cause instanceof QueueFullError ? "too many requests are waiting" : "the request waited too long";
      throw new VenueError("rate_limited", `${venue}: ${reason}`, { retryable: true, cause });
    }
  }

  async #sendJudged<Result>(
    venue: VenueId,
    breaker: CircuitBreaker,
    send: (signal: AbortSignal) => Promise<Result>,
    deadline: AbortSignal,
  ): Promise<Result> {
    try {
      const result = await this.#send(venue, send, deadline);
      breaker.recordSuccess();
      return result;
    } catch (error) {
      this.#judge(breaker, error);
      throw error;
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

  /** Rejects one iteration of the event loop after the signal, so that the error of an adapter that heeds it comes first. */
  async #rejectAfter(signal: AbortSignal): Promise<never> {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await this.#clock.yieldToEventLoop();
    throw signal.reason;
  }

  /** A request that was not sent says nothing about the venue. A bad answer may concern one market only. */
  #judge(breaker: CircuitBreaker, error: unknown): void {
    const failure = error instanceof VenueError ? error.failure : null;
    if (failure === "timeout" || failure === "network" || failure === "circuit_open")
      breaker.recordFailure(this.#clock.monotonic());
    else if (failure === null || failure === "rate_limited") breaker.cancelProbe();
    else breaker.recordSuccess();
  }
}

/** Whether a request failed because it was not sent: the caller's or the venue's requests were used up. */
export const isNotSent = (error: unknown): boolean =>
  error instanceof VenueError && (error.failure === "rate_limited" || error.failure === "circuit_open");

const createOpenError = (venue: VenueId): VenueError =>
  new VenueError("circuit_open", `${venue} does not answer at present`, {
    retryable: true,
    retryAfterMs: PROBE_EVERY_MS,
  });
