import { VenueError } from "../../domain/errors.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { Clock } from "../../ports/clock.ts";
import type { HttpOut, IncomingResponse } from "../../ports/http-out.ts";
import type { Random } from "../../ports/random.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";

/** What a venue publishes about how often it may be asked. */
export interface RequestLimits {
  readonly perSecond: number;
  /** Requests that may go out at once after a quiet spell. */
  readonly burst: number;
  readonly concurrency: number;
}

/** So many times its published rate is no rate to wait for, and still a bound. */
const LIFTED_FACTOR = 100;

/** How often to ask a venue that publishes `limits`. */
export function limitsFor(venue: { readonly areLimitsLifted?: boolean }, limits: RequestLimits): RequestLimits {
  if (venue.areLimitsLifted !== true) return limits;
  return { ...limits, perSecond: limits.perSecond * LIFTED_FACTOR, burst: limits.burst * LIFTED_FACTOR };
}

export interface VenueClientOptions {
  readonly http: HttpOut;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RequestLimits;
  /** Counts attempts that the venue failed, also those whose repetition succeeds: `attempt_` and the kind of failure. */
  readonly drop?: DropCounter;
  /** Whole exchange, one attempt: at most. What takes far longer than answers do is given up before. */
  readonly deadlineMs?: number;
  readonly maxBodyBytes?: number;
  /** Extra headers for each request, for example a signature over method and path. */
  readonly headers?: (method: string, url: URL) => Readonly<Record<string, string>>;
}

export interface VenueResponse {
  readonly status: number;
  /** Parsed JSON; hostile until checked against a schema. */
  readonly json: unknown;
  readonly requestedAt: number;
  readonly receivedAt: number;
}

export interface VenueCall {
  readonly signal: AbortSignal;
  /** Statuses besides 2xx that are an answer, for example 404 for a market the venue does not know. */
  readonly accept?: readonly number[];
  /** JSON body: makes it a POST. */
  readonly body?: unknown;
}

const DEADLINE_MS = 15_000;
/** An answer that takes this many times as long as the slowest of late is lost; the repetition is waited for twice as long. */
const PATIENCE_FACTOR = 4;
const PATIENCE_MS_MIN = 5_000;
/** What one quick answer leaves of the patience that slow ones made. */
const PATIENCE_KEPT = 0.98;
const RETRIES_MAX = 2;
const BACKOFF_MS = 250;
const RETRY_AFTER_MS_MAX = 5 * 60_000;
const RATE_LIMIT_PAUSE_MS = 1_000;
/** A longer wait than this is no wait that anybody means: it counts as not stated. */
const RETRY_AFTER_MEANT_MS_MAX = 366 * 86_400_000;
/** A host that keeps failing is asked by one request a second: no burden for it, and its return is seen at once. */
const PROBE_EVERY_MS = 1_000;
/** A host that has banned us is left alone for at least this long. */
const BAN_PAUSE_MS_MIN = 30_000;
/** One 403 may be about what was asked for; so many in a row are about who asks. */
const FORBIDDEN_MAX = 5;
const WAITERS_MAX = 1_000;
/** Ids in paths come from callers, and messages end up in logs. */
const PATH_LENGTH_SHOWN = 200;

/**
 * A client of one venue host: waits for its turn within the published limits, retries what is worth it with full
 * jitter, honours Retry-After for all callers, and stops asking a host that keeps failing.
 */
export class VenueClient {
  readonly #options: VenueClientOptions;
  readonly #bucket: TokenBucket;
  readonly #breaker = new CircuitBreaker({
    failuresMax: 5,
    openMs: PROBE_EVERY_MS,
    openMsMax: PROBE_EVERY_MS,
  });
  #inFlight = 0;
  #waiting = 0;
  #pausedUntil = 0;
  #forbiddenInARow = 0;
  #patienceMs = PATIENCE_MS_MIN;

  constructor(options: VenueClientOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket({
      perSecond: options.limits.perSecond,
      capacity: options.limits.burst,
      now: options.clock.monotonic(),
    });
  }

  async fetchJson(url: string, call: VenueCall): Promise<VenueResponse> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(new URL(url), call, attempt);
      } catch (error) {
        if (!(error instanceof VenueError) || !error.retryable || attempt >= RETRIES_MAX || call.signal.aborted)
          throw error;
        const backoffMs = this.#options.random.uniform() * BACKOFF_MS * 2 ** attempt;
        await this.#options.clock.sleep(Math.max(backoffMs, Math.min(error.retryAfterMs ?? 0, 2_000)), call.signal);
      }
    }
  }

  async #once(url: URL, call: VenueCall, attempt: number): Promise<VenueResponse> {
    await this.#turn(call.signal);
    try {
      return await this.#send(url, call, attempt);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #send(url: URL, call: VenueCall, attempt: number): Promise<VenueResponse> {
    const { clock, http } = this.#options;
    if (!this.#breaker.allows(clock.monotonic())) {
      throw new VenueError("circuit_open", `${url.host} keeps failing and is left alone for a while`, {
        retryable: false,
      });
    }
    const requestedAt = clock.now();
    const begunAt = clock.monotonic();
    try {
      const method = call.body === undefined ? "GET" : "POST";
      const response = await http.send({
        method,
        url: url.href,
        headers: {
          accept: "application/json",
          ...(call.body === undefined ? {} : { "content-type": "application/json" }),
          ...this.#options.headers?.(method, url),
        },
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        deadlineMs: Math.min(this.#options.deadlineMs ?? DEADLINE_MS, Math.ceil(this.#patienceMs) * 2 ** attempt),
        maxBodyBytes: this.#options.maxBodyBytes ?? 32 * 1024 * 1024,
        signal: call.signal,
      });
      const tookMs = clock.monotonic() - begunAt;
      this.#patienceMs = Math.max(PATIENCE_MS_MIN, tookMs * PATIENCE_FACTOR, this.#patienceMs * PATIENCE_KEPT);
      const answer = this.#read(url, response, call.accept ?? []);
      this.#breaker.succeeded();
      // Reading a page of a thousand markets is a long piece of work, and so is what follows.
      await clock.yieldToEventLoop();
      return { status: response.status, json: answer, requestedAt, receivedAt: response.receivedAt };
    } catch (error) {
      if (call.signal.aborted) this.#breaker.abandoned();
      else if (error instanceof VenueError && error.failure === "client_error") this.#breaker.succeeded();
      else {
        this.#breaker.failed(clock.monotonic());
        if (error instanceof VenueError) this.#options.drop?.(`attempt_${error.failure}`);
      }
      throw error;
    }
  }

  #read(url: URL, response: IncomingResponse, accept: readonly number[]): unknown {
    const { status } = response;
    const where = `${url.host}${url.pathname.slice(0, PATH_LENGTH_SHOWN)} answered ${status}`;
    this.#forbiddenInARow = status === 403 ? this.#forbiddenInARow + 1 : 0;
    if ((status >= 200 && status < 300) || accept.includes(status)) {
      try {
        return JSON.parse(response.body);
      } catch (cause) {
        if (status >= 300) return null;
        throw new VenueError("bad_body", `${where} with a body that is not JSON`, { status, retryable: true, cause });
      }
    }
    const isBan = status === 418 || this.#forbiddenInARow >= FORBIDDEN_MAX;
    if (status === 429 || isBan) {
      const { clock } = this.#options;
      const statedMs = statedWait(response.headers["retry-after"], clock.now());
      const waitMs = isBan ? Math.max(BAN_PAUSE_MS_MIN, statedMs ?? 0) : (statedMs ?? RATE_LIMIT_PAUSE_MS);
      this.#pausedUntil = Math.max(this.#pausedUntil, clock.monotonic() + waitMs);
      throw new VenueError("rate_limited", where, { status, retryable: true, retryAfterMs: waitMs });
    }
    if (status >= 500) throw new VenueError("server_error", where, { status, retryable: true });
    throw new VenueError("client_error", where, { status, retryable: false });
  }

  /** Waits until the limits allow a request; callers queue in no particular order, at most `WAITERS_MAX`. */
  async #turn(signal: AbortSignal): Promise<void> {
    const { clock, limits } = this.#options;
    if (this.#waiting >= WAITERS_MAX) {
      throw new VenueError("rate_limited", "too many requests are waiting for this venue", { retryable: false });
    }
    this.#waiting += 1;
    try {
      for (;;) {
        signal.throwIfAborted();
        const now = clock.monotonic();
        const pausedMs = this.#pausedUntil - now;
        if (pausedMs > 0) {
          await clock.sleep(pausedMs, signal);
        } else if (this.#inFlight >= limits.concurrency) {
          await clock.sleep(5, signal);
        } else {
          const waitMs = this.#bucket.take(now);
          if (waitMs === 0) {
            // Taken here and not by the caller: others judge the number before the caller is resumed.
            this.#inFlight += 1;
            return;
          }
          await clock.sleep(waitMs, signal);
        }
      }
    } finally {
      this.#waiting -= 1;
    }
  }
}

/**
 * Retry-After as milliseconds from now: seconds or an HTTP date, capped at five minutes; null when absent or absurd.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  const waitMs = readRetryAfter(value, nowMs);
  return waitMs === null ? null : Math.min(waitMs, RETRY_AFTER_MS_MAX);
}

/** As `parseRetryAfter`, and null for a wait of years: whoever sends that has told us nothing. */
function statedWait(value: string | undefined, nowMs: number): number | null {
  const waitMs = readRetryAfter(value, nowMs);
  return waitMs === null || waitMs > RETRY_AFTER_MEANT_MS_MAX ? null : parseRetryAfter(value, nowMs);
}

function readRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}
