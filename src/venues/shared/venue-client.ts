import { VenueError } from "../../domain/errors.ts";
import { CircuitBreaker } from "../../lib/circuit-breaker.ts";
import { currentCaller } from "../../lib/current-caller.ts";
import { DAY_MS } from "../../lib/durations.ts";
import { FairSemaphore, QueueFullError, type Release } from "../../lib/fair-semaphore.ts";
import { JsonBoundError } from "../../lib/json/json-depth.ts";
import { parseJsonInSlices } from "../../lib/json/json-slices.ts";
import { TokenBucket } from "../../lib/token-bucket.ts";
import type { IncomingResponse } from "../../ports/http-out.ts";
import type { VenuePorts } from "./venue-ports.ts";

export interface RequestLimits {
  readonly perSecond: number;
  /** Maximum number of requests sent immediately after an idle period. */
  readonly burst: number;
  readonly concurrency: number;
}

/** Factor by which the published rate limits are raised for simulated venues, which effectively removes them. */
const SIMULATED_LIMIT_FACTOR = 100;

/** Options of a client. `countDrop` counts each failed attempt as `attempt_<failure>`, even if its retry succeeds. */
export interface VenueClientOptions
  extends Pick<VenuePorts, "http" | "clock" | "random" | "countDrop" | "areLimitsLifted"> {
  /** URL to which request paths are appended, with or without a trailing slash. */
  readonly baseUrl: string;
  /** The venue's published limits. */
  readonly limits: RequestLimits;
  /** Maximum timeout of one attempt. The adaptive timeout is usually shorter. */
  readonly deadlineMs?: number;
  readonly maxBodyBytes?: number;
  /** Creates additional headers for each attempt, for example a signature over the path. */
  readonly headers?: (url: URL) => Readonly<Record<string, string>>;
}

export interface VenueResponse {
  readonly status: number;
  /** Parsed JSON; untrusted until checked against a schema. */
  readonly json: unknown;
  readonly requestedAt: number;
  readonly receivedAt: number;
}

/** Value of a query parameter. A list is sent as repeated parameters. Null and undefined are omitted. */
export type QueryValue = string | number | boolean | readonly string[] | null | undefined;

export interface VenueCall {
  readonly signal: AbortSignal;
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** Statuses besides 2xx that do not throw an error, for example 404 for an unknown market. */
  readonly accept?: readonly number[];
  /** Maximum size of the response body. The default is the client's `maxBodyBytes`. */
  readonly maxBodyBytes?: number | undefined;
}

/** Default of `maxBodyBytes`. The largest page that a venue sends has about 3 MB. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;
/** Maximum size of a response with one order book. The largest recorded response has less than 0.1 MB. */
export const BOOK_BODY_BYTES_MAX = 2 * 1024 * 1024;
/**
 * Maximum number of values in a response above 256 KiB. The largest response, Kalshi's list of series, has fewer than a
 * million.
 */
const VALUES_MAX = 2_000_000;

/**
 * Timeout of a request as a multiple of the slowest recent response time. The timeout doubles with each request that
 * times out, until a response is received.
 */
const TIMEOUT_FACTOR = 4;
const TIMEOUT_MS_MIN = 5_000;
/** Default of `deadlineMs`. Some venues need 25 seconds for one page. */
const DEADLINE_MS = 60_000;
/** Factor by which the slowest recent response time shrinks with each faster response. */
const SLOWEST_DECAY = 0.98;
const RETRIES_MAX = 2;
const BACKOFF_MS = 250;
const RETRY_AFTER_MS_MAX = 5 * 60_000;
const RATE_LIMIT_PAUSE_MS = 1_000;
const RETRY_AFTER_BODY_CHARS_MAX = 10_000;
/** Maximum valid Retry-After. A longer delay is treated as invalid. */
const RETRY_AFTER_VALID_MS_MAX = 366 * DAY_MS;
/** Interval at which a failing host is probed until it recovers. */
const PROBE_EVERY_MS = 1_000;
/** Number of consecutive failures after which only one request per `PROBE_EVERY_MS` is sent. */
const FAILURES_MAX = 5;
/** Minimum pause after the host bans this client. */
const BAN_PAUSE_MS_MIN = 30_000;
/**
 * Number of consecutive 403 responses that are treated as a ban. A single 403 may concern only the requested resource.
 */
const CONSECUTIVE_FORBIDDEN_MAX = 5;
/** Maximum number of waiting requests of one kind. */
const WAITING_PER_KIND_MAX = 1_000;
/** Maximum length of a path in error messages, because paths contain ids from callers and error messages are logged. */
const LOGGED_PATH_LENGTH_MAX = 200;

/**
 * Origin of a request: a client of the API, or the service itself. Waiting requests of the two kinds are sent
 * alternately, so that neither clients nor a sweep use up the venue's rate limit.
 */
type RequestKind = "client" | "service";

/**
 * HTTP client of one venue host. It sends the requests of one kind in order, within the rate limit. It retries
 * transient failures with full jitter, applies Retry-After to all requests, and pauses requests to a host that keeps
 * failing.
 */
export class VenueClient {
  /** Maximum number of requests per second. */
  readonly requestsPerSecond: number;
  readonly #options: VenueClientOptions;
  readonly #bucket: TokenBucket;
  readonly #breaker = new CircuitBreaker(FAILURES_MAX, PROBE_EVERY_MS);
  /** A slot for the one request that waits for the rate limit. The others wait for the slot. */
  readonly #turns = new FairSemaphore({ slots: 1, waitingPerKey: WAITING_PER_KIND_MAX });
  readonly #running: FairSemaphore;
  #pausedUntil = 0;
  #consecutiveForbidden = 0;
  /** Duration of the slowest recent response in milliseconds. */
  #slowestMs = 0;
  /** Factor by which timeouts since the last response have increased the timeout. */
  #timeoutBackoff = 1;

  constructor(options: VenueClientOptions) {
    this.#options = options;
    const { concurrency, perSecond, burst } = options.limits;
    const factor = options.areLimitsLifted === true ? SIMULATED_LIMIT_FACTOR : 1;
    this.requestsPerSecond = perSecond * factor;
    this.#running = new FairSemaphore({ slots: concurrency });
    this.#bucket = new TokenBucket({
      perSecond: this.requestsPerSecond,
      capacity: burst * factor,
      now: options.clock.monotonic(),
    });
  }

  /** @param path  begins with a slash */
  async fetchJson(path: string, call: VenueCall): Promise<VenueResponse> {
    const url = new URL(`${this.#options.baseUrl.replace(/\/+$/, "")}${path}`);
    for (const [name, value] of Object.entries(call.query ?? {}))
      for (const each of [value ?? []].flat()) url.searchParams.append(name, String(each));
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(url, call);
      } catch (error) {
        if (!(error instanceof VenueError) || !error.retryable || attempt >= RETRIES_MAX || call.signal.aborted)
          throw error;
        const backoffMs = this.#options.random.uniform() * BACKOFF_MS * 2 ** attempt;
        const waitMs = Math.max(backoffMs, Math.min(error.retryAfterMs ?? 0, 2_000));
        await this.#options.clock.sleep(waitMs, call.signal).catch(() => {
          throw error;
        });
      }
    }
  }

  async #attempt(url: URL, call: VenueCall): Promise<VenueResponse> {
    const release = await this.#waitForLimits(call.signal);
    try {
      return await this.#send(url, call);
    } finally {
      release();
    }
  }

  get #deadlineMs(): number {
    return this.#options.deadlineMs ?? DEADLINE_MS;
  }

  /** Timeout of the next attempt. */
  get #timeoutMs(): number {
    const usualMs = Math.max(TIMEOUT_MS_MIN, Math.ceil(this.#slowestMs * TIMEOUT_FACTOR));
    return Math.min(this.#deadlineMs, usualMs * this.#timeoutBackoff);
  }

  async #send(url: URL, call: VenueCall): Promise<VenueResponse> {
    const { clock, http } = this.#options;
    if (!this.#breaker.allows(clock.monotonic())) {
      throw new VenueError("circuit_open", `${url.host} keeps failing; requests to it are paused`, {
        retryable: false,
      });
    }
    const requestedAt = clock.now();
    const startedAt = clock.monotonic();
    const timeoutMs = this.#timeoutMs;
    try {
      const response = await http.send({
        method: "GET",
        url: url.href,
        headers: { accept: "application/json", ...this.#options.headers?.(url) },
        deadlineMs: timeoutMs,
        maxBodyBytes: call.maxBodyBytes ?? this.#options.maxBodyBytes ?? BODY_BYTES_MAX,
        signal: call.signal,
      });
      this.#slowestMs = Math.max(clock.monotonic() - startedAt, this.#slowestMs * SLOWEST_DECAY);
      this.#timeoutBackoff = 1;
      const json = await this.#parseResponse(url, response, call.accept ?? []);
      this.#breaker.recordSuccess();
      // Yields between parsing and processing, because each of them blocks the event loop if the page is large.
      await clock.yieldToEventLoop();
      return { status: response.status, json, requestedAt, receivedAt: response.receivedAt };
    } catch (error) {
      if (call.signal.aborted) this.#breaker.cancelProbe();
      else if (error instanceof VenueError && error.failure === "client_error") this.#breaker.recordSuccess();
      else {
        this.#recordFailure(error, timeoutMs);
        if (error instanceof VenueError) this.#options.countDrop(`attempt_${error.failure}`);
      }
      throw error;
    }
  }

  /**
   * A request that times out extends the timeout of later requests. It counts as a failure of the host only at the
   * maximum timeout, because before that the host may only be slow.
   */
  #recordFailure(error: unknown, timeoutMs: number): void {
    const mayBeSlow = error instanceof VenueError && error.failure === "timeout" && timeoutMs < this.#deadlineMs;
    // Simultaneous requests that time out together extend the timeout once.
    if (mayBeSlow && timeoutMs === this.#timeoutMs) this.#timeoutBackoff *= 2;
    if (mayBeSlow) this.#breaker.cancelProbe();
    else this.#breaker.recordFailure(this.#options.clock.monotonic());
  }

  async #parseResponse(url: URL, response: IncomingResponse, accept: readonly number[]): Promise<unknown> {
    const { status } = response;
    const summary = `${url.host}${url.pathname.slice(0, LOGGED_PATH_LENGTH_MAX)} returned ${status}`;
    this.#consecutiveForbidden = status === 403 ? this.#consecutiveForbidden + 1 : 0;
    if ((status >= 200 && status < 300) || accept.includes(status)) {
      try {
        return await parseJsonInSlices(response.body, VALUES_MAX, () => this.#options.clock.yieldToEventLoop());
      } catch (cause) {
        if (cause instanceof JsonBoundError) {
          const message = `${summary} with a body that exceeds a bound: ${cause.message}`;
          throw new VenueError("bad_body", message, { status, retryable: false, cause });
        }
        if (status >= 300) return null;
        throw new VenueError("bad_body", `${summary} with a body that is not JSON`, { status, retryable: true, cause });
      }
    }
    const isBan = status === 418 || this.#consecutiveForbidden >= CONSECUTIVE_FORBIDDEN_MAX;
    if (status === 429 || isBan) {
      const { clock } = this.#options;
      const retryAfterMs = findRetryAfter(response, clock.now());
      const waitMs = isBan ? Math.max(BAN_PAUSE_MS_MIN, retryAfterMs ?? 0) : (retryAfterMs ?? RATE_LIMIT_PAUSE_MS);
      this.#pausedUntil = Math.max(this.#pausedUntil, clock.monotonic() + waitMs);
      throw new VenueError("rate_limited", summary, { status, retryable: true, retryAfterMs: waitMs });
    }
    // 425: the venue's matching engine restarts.
    if (status >= 500 || status === 425) {
      const retryAfterMs = findRetryAfter(response, this.#options.clock.now()) ?? undefined;
      throw new VenueError("server_error", summary, { status, retryable: true, retryAfterMs });
    }
    throw new VenueError("client_error", summary, { status, retryable: false });
  }

  /**
   * Waits until the limits allow a request. The returned function must be called when the request has ended.
   *
   * @throws VenueError `rate_limited` if too many requests of the kind wait, or if the signal aborts
   */
  async #waitForLimits(signal: AbortSignal): Promise<Release> {
    const kind: RequestKind = currentCaller() === null ? "service" : "client";
    try {
      return await this.#waitForTurnAndToken(kind, signal);
    } catch (cause) {
      const reason =
        cause instanceof QueueFullError ? "too many requests are waiting" : "the request was not sent in time";
      const pauseMs = this.#pausedUntil - this.#options.clock.monotonic();
      throw new VenueError("rate_limited", `${reason}: the requests that this venue permits are used up`, {
        retryable: false,
        retryAfterMs: pauseMs > 0 ? pauseMs : undefined,
        cause,
      });
    }
  }

  async #waitForTurnAndToken(kind: RequestKind, signal: AbortSignal): Promise<Release> {
    const endTurn = await this.#turns.acquire(kind, signal);
    try {
      const release = await this.#running.acquire(kind, signal);
      try {
        await this.#waitForToken(signal);
        return release;
      } catch (error) {
        release();
        throw error;
      }
    } finally {
      endTurn();
    }
  }

  /** Waits for the end of a pause requested by the venue, and for the rate limit. */
  async #waitForToken(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      const now = clock.monotonic();
      const waitMs = this.#pausedUntil > now ? this.#pausedUntil - now : this.#bucket.take(now);
      if (waitMs === 0) return;
      await clock.sleep(waitMs, signal);
    }
  }
}

/**
 * Returns the delay of the header Retry-After, or of `retry_after_seconds` in a short JSON body; null without either.
 */
function findRetryAfter({ headers, body }: IncomingResponse, nowMs: number): number | null {
  const delayMs = parseRetryAfter(headers["retry-after"], nowMs);
  if (delayMs !== null || body.length > RETRY_AFTER_BODY_CHARS_MAX) return delayMs;
  try {
    const { retry_after_seconds: seconds } = Object(JSON.parse(body)) as { retry_after_seconds?: unknown };
    const isSeconds = typeof seconds === "number" && seconds >= 0 && seconds * 1_000 <= RETRY_AFTER_VALID_MS_MAX;
    return isSeconds ? Math.min(seconds * 1_000, RETRY_AFTER_MS_MAX) : null;
  } catch {
    return null;
  }
}

/**
 * Parses Retry-After (seconds or an HTTP date). Returns milliseconds from now, at most five minutes, or null if the
 * value is absent, invalid or more than a year ahead.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return waitMs >= 0 && waitMs <= RETRY_AFTER_VALID_MS_MAX ? Math.min(waitMs, RETRY_AFTER_MS_MAX) : null;
}
