import { VenueError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import { CircuitBreaker } from "../../lib/circuit-breaker.ts";
import { currentCallerKey } from "../../lib/current-caller.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";

/** Maximum number of concurrent requests per venue, so that clients do not use up the rate limit that ingest needs. */
const RUNNING_PER_VENUE_MAX = 4;
/** Maximum number of concurrent requests per caller and venue. Below `RUNNING_PER_VENUE_MAX`, so others can send. */
const RUNNING_PER_CALLER_MAX = 3;
const WAITING_PER_CALLER_MAX = 100;
const WAITING_PER_VENUE_MAX = 1_000;
/** Maximum number of concurrent look-ups of markets that are not on the board, per venue. */
export const LOOK_UPS_PER_VENUE_MAX = 1;
/** Maximum share of a venue's rate limit that look-ups may use. */
export const LOOK_UP_SHARE_MAX = 0.25;
/** Minimum burst size of the look-up rate limit. */
const LOOK_UP_BURST = 4;
/** Number of consecutive failures after which the venue gets one request per second, until a request succeeds. */
const FAILURES_MAX = 3;
const PROBE_EVERY_MS = 1_000;
/** Maximum share of a request's timeout that it may wait in the queue, so that the venue has time to respond. */
const WAIT_SHARE_MAX = 0.5;

/** Limits shared by all requests to one venue. */
interface Lane {
  readonly slots: FairSemaphore;
  readonly lookUps: FairSemaphore;
  readonly lookUpRate: TokenBucket;
  readonly breaker: CircuitBreaker;
  /** Requests that several callers may share, by id. */
  readonly shared: Map<string, SharedRequest>;
}

interface SharedRequest {
  /** Number of callers in the queue. */
  callers: number;
  /** Aborted when one of the callers sends the request. */
  readonly sent: AbortController;
  readonly result: PromiseWithResolvers<unknown>;
}

/**
 * Sends requests to the venues on behalf of clients, with limits on concurrency and a timeout. Queued callers are
 * served in turn, so that a caller with many requests delays another caller by at most one request. Look-ups of markets
 * that are not on the board use at most a quarter of a venue's rate limit. A circuit breaker limits a failing venue to
 * one request per second.
 */
export class VenueRequestQueue {
  readonly #clock: Clock;
  readonly #requestsPerSecondOf: (venue: VenueId) => number;
  readonly #lanes = new Map<VenueId, Lane>();

  /** @param requestsPerSecondOf  rate limit of a venue in requests per second; 1,000 by default */
  constructor(clock: Clock, requestsPerSecondOf: (venue: VenueId) => number = () => 1_000) {
    this.#clock = clock;
    this.#requestsPerSecondOf = requestsPerSecondOf;
  }

  /**
   * Runs `send` once for all concurrent callers with the same id. Each caller enters the queue. The first one served
   * sends the request when fewer than 4 requests to the venue, and fewer than 3 requests of the caller to it, are
   * running; the others wait for its result until their own timeouts.
   *
   * @param id  must start with the kind of the request, because clients choose the market ids in it
   * @param timeoutMs  timeout including the time in the queue, which may be at most half of it
   * @throws VenueError `timeout` if the venue does not respond in time; `rate_limited` if the request was queued for
   *   half of the timeout, or if 100 requests of the caller are queued; `circuit_open` immediately if the breaker is
   *   open
   * @throws the errors of `send`
   */
  async run<Result>(
    venue: VenueId,
    id: string,
    timeoutMs: number,
    send: (signal: AbortSignal) => Promise<Result>,
    { isLookUp = false }: { readonly isLookUp?: boolean } = {},
  ): Promise<Result> {
    const { shared: requests } = this.#laneOf(venue);
    const shared = requests.get(id) ?? createSharedRequest();
    requests.set(id, shared);
    shared.callers += 1;
    const endsAt = this.#clock.monotonic() + timeoutMs;
    let isSender = false;
    const sendFirst = (signal: AbortSignal): Promise<Result> => {
      // Two callers may be served at the same time.
      shared.sent.signal.throwIfAborted();
      isSender = true;
      shared.sent.abort();
      return send(signal);
    };
    try {
      if (!shared.sent.signal.aborted) {
        const result = await this.#runQueued(venue, timeoutMs, sendFirst, isLookUp, shared.sent.signal);
        shared.result.resolve(result);
        return result;
      }
    } catch (error) {
      if (isSender) shared.result.reject(error);
      if (isSender || !shared.sent.signal.aborted) throw error;
    } finally {
      shared.callers -= 1;
      if (isSender || (shared.callers === 0 && !shared.sent.signal.aborted)) requests.delete(id);
    }
    return (await this.#waitForResult(venue, shared, endsAt)) as Result;
  }

  #laneOf(venue: VenueId): Lane {
    const lane = this.#lanes.get(venue) ?? createLane(this.#requestsPerSecondOf(venue), this.#clock.monotonic());
    this.#lanes.set(venue, lane);
    return lane;
  }

  /** @param endWait  ends the time in the queue; the error is the signal's reason */
  async #runQueued<Result>(
    venue: VenueId,
    timeoutMs: number,
    send: (signal: AbortSignal) => Promise<Result>,
    isLookUp: boolean,
    endWait: AbortSignal,
  ): Promise<Result> {
    const lane = this.#laneOf(venue);
    if (!lane.breaker.mayAllow(this.#clock.monotonic())) throw createOpenError(venue);
    const deadline = new AbortController();
    const endOfWait = new AbortController();
    const cancelDeadline = this.#clock.setTimeout(() => deadline.abort(), timeoutMs);
    const cancelWait = this.#clock.setTimeout(() => endOfWait.abort(), timeoutMs * WAIT_SHARE_MAX);
    const endOfAnyWait = AbortSignal.any([endOfWait.signal, endWait]);
    try {
      const release = await this.#waitForTurn(venue, lane, isLookUp, endOfAnyWait).finally(cancelWait);
      try {
        // Other requests may have failed during the wait.
        if (!lane.breaker.allows(this.#clock.monotonic())) throw createOpenError(venue);
        return await this.#sendRecorded(lane.breaker, () => this.#send(venue, send, deadline.signal));
      } finally {
        release();
      }
    } finally {
      cancelDeadline();
    }
  }

  async #waitForTurn(venue: VenueId, lane: Lane, isLookUp: boolean, endOfWait: AbortSignal): Promise<Release> {
    const caller = currentCallerKey();
    const releases: Release[] = [];
    const releaseAll = () => {
      for (const release of releases) release();
    };
    try {
      if (isLookUp) {
        releases.push(await lane.lookUps.acquire(caller, endOfWait));
        for (let waitMs = 1; waitMs > 0; ) {
          waitMs = lane.lookUpRate.take(this.#clock.monotonic());
          if (waitMs > 0) await this.#clock.sleep(waitMs, endOfWait);
        }
      }
      releases.push(await lane.slots.acquire(caller, endOfWait));
      return releaseAll;
    } catch (cause) {
      releaseAll();
      const reason = cause instanceof QueueFullError ? "too many requests are waiting" : "the request waited too long";
      throw new VenueError("rate_limited", `${venue}: ${reason}`, { retryable: true, cause });
    }
  }

  async #waitForResult(venue: VenueId, { result }: SharedRequest, endsAt: number): Promise<unknown> {
    const timeout = Promise.withResolvers<never>();
    const cancel = this.#clock.setTimeout(
      () => timeout.reject(new VenueError("timeout", `${venue} did not respond in time`, { retryable: true })),
      endsAt - this.#clock.monotonic(),
    );
    try {
      return await Promise.race([result.promise, timeout.promise]);
    } finally {
      cancel();
    }
  }

  async #send<Result>(
    venue: VenueId,
    send: (signal: AbortSignal) => Promise<Result>,
    deadline: AbortSignal,
  ): Promise<Result> {
    try {
      // The adapter may ignore the signal, for example while it waits for a shared request.
      return await Promise.race([send(deadline), this.#rejectAfter(deadline)]);
    } catch (error) {
      if (!deadline.aborted || (error instanceof VenueError && error.failure === "rate_limited")) throw error;
      throw new VenueError("timeout", `${venue} did not respond in time`, { retryable: true, cause: error });
    }
  }

  /** Rejects one event-loop iteration after the signal aborts, so that an error of the adapter takes precedence. */
  async #rejectAfter(signal: AbortSignal): Promise<never> {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await this.#clock.yieldToEventLoop();
    throw signal.reason;
  }

  async #sendRecorded<Result>(breaker: CircuitBreaker, send: () => Promise<Result>): Promise<Result> {
    try {
      const result = await send();
      breaker.recordSuccess();
      return result;
    } catch (error) {
      this.#recordError(breaker, error);
      throw error;
    }
  }

  /** Ignores requests that were not sent. An invalid response is not a failure, as it may concern one market only. */
  #recordError(breaker: CircuitBreaker, error: unknown): void {
    const failure = error instanceof VenueError ? error.failure : null;
    if (failure === "timeout" || failure === "network" || failure === "circuit_open")
      breaker.recordFailure(this.#clock.monotonic());
    else if (failure === null || failure === "rate_limited") breaker.cancelProbe();
    else breaker.recordSuccess();
  }
}

/** Returns whether the request was rejected without being sent, by a rate limit or by the circuit breaker. */
export const isUnsentRequestError = (error: unknown): boolean =>
  error instanceof VenueError && (error.failure === "rate_limited" || error.failure === "circuit_open");

function createLane(requestsPerSecond: number, now: number): Lane {
  const waiting = { waiting: WAITING_PER_VENUE_MAX, waitingPerKey: WAITING_PER_CALLER_MAX };
  const lookUpsPerSecond = requestsPerSecond * LOOK_UP_SHARE_MAX;
  return {
    slots: new FairSemaphore({ slots: RUNNING_PER_VENUE_MAX, perKey: RUNNING_PER_CALLER_MAX, ...waiting }),
    lookUps: new FairSemaphore({ slots: LOOK_UPS_PER_VENUE_MAX, ...waiting }),
    lookUpRate: new TokenBucket({
      perSecond: lookUpsPerSecond,
      capacity: Math.max(LOOK_UP_BURST, lookUpsPerSecond),
      now,
    }),
    breaker: new CircuitBreaker(FAILURES_MAX, PROBE_EVERY_MS),
    shared: new Map(),
  };
}

function createSharedRequest(): SharedRequest {
  const result = Promise.withResolvers<unknown>();
  // Prevents an unhandled rejection if no caller is waiting.
  result.promise.catch(() => {});
  return { callers: 0, sent: new AbortController(), result };
}

const createOpenError = (venue: VenueId): VenueError =>
  new VenueError("circuit_open", `${venue} does not answer at present`, {
    retryable: true,
    retryAfterMs: PROBE_EVERY_MS,
  });
