import http from "node:http";
import https from "node:https";
import {
  OPEN_REQUESTS_MAX,
  OPEN_REQUESTS_PER_CUSTOMER_MAX,
  REQUEST_SLOTS,
  REQUEST_WAIT_MS_MAX,
  RESPONSE_BODY_BYTES_MAX,
  RESPONSE_HEADER_BYTES_MAX,
  SLOT_HOLD_MS_MAX,
  SLOW_REQUEST_SLOTS,
  STORED_BODY_BYTES_MAX,
} from "../../domain/webhook-limits.ts";
import { FairSemaphore, type Release } from "../../lib/fair-semaphore.ts";
import type { Clock } from "../../ports/clock.ts";
import type {
  DeliveryFailure,
  RequestTiming,
  WebhookAnswer,
  WebhookAttempt,
  WebhookOut,
  WebhookRequest,
} from "../../ports/webhook-out.ts";
import {
  createDnsResolver,
  type Dial,
  dialTcp,
  ForbiddenAddressError,
  GuardedAgent,
  type GuardedRequestOptions,
  type GuardPorts,
  type ResolveHost,
} from "./guarded-agent.ts";
import { createHostSemaphore, type HostSemaphoreLimits } from "./host-semaphore.ts";
import { limitResponse, ResponseLimitError } from "./response-limits.ts";
import { OverRateError, WebhookRates } from "./webhook-rates.ts";
import { parseRetryAfter } from "./webhook-retry-after.ts";
import { createCheckWebhookUrl } from "./webhook-url.ts";

const USER_AGENT = "parallax/1.0";

export interface WebhookHttpOptions {
  /** Allows http and https to loopback addresses. Only for a sandbox that no other machine can reach. */
  readonly allowsLoopback: boolean;
  /** Maximum requests per second to one host name, for all customers. The limit of an address is four times that. */
  readonly hostRate: number;
  /** Resolves host names; injected by tests. */
  readonly resolveHost?: ResolveHost;
  /** Opens connections; injected by tests. */
  readonly dial?: Dial;
  /** Certificates to trust instead of the built-in ones, as PEM; injected by tests. */
  readonly ca?: string;
  /** Limits of requests to healthy receivers and to slow receivers; smaller in tests. */
  readonly limits?: HostSemaphoreLimits;
  readonly slowLimits?: HostSemaphoreLimits;
}

/**
 * Creates the HTTP client for webhooks. It connects only to public addresses and verifies certificates. It neither
 * follows redirects nor decompresses responses. It limits the connections, the number and time of waiting requests, the
 * rate of requests to each host, and the size and time of each response.
 */
export function createWebhookHttp(clock: Clock, options: WebhookHttpOptions): WebhookOut {
  const { resolveHost = createDnsResolver(), dial = dialTcp } = options;
  const rates = new WebhookRates(clock, options.hostRate);
  const guardPorts: GuardPorts = {
    ...options,
    resolveHost,
    dial,
    admit: (addresses) => rates.takeAddresses(addresses),
  };
  const agents = { http: new GuardedAgent("http:", guardPorts), https: new GuardedAgent("https:", guardPorts) };
  const checkUrl = createCheckWebhookUrl(options);
  const slots = createHostSemaphore(options.limits ?? REQUEST_SLOTS);
  const slowSlots = createHostSemaphore(options.slowLimits ?? SLOW_REQUEST_SLOTS);
  const running = new FairSemaphore({ slots: OPEN_REQUESTS_MAX, perKey: OPEN_REQUESTS_PER_CUSTOMER_MAX });
  const pending = new Map<AbortController, Promise<WebhookAttempt>>();
  let isClosed = false;

  /** Waits for a slot and for the host's rate limit. @throws OverRateError, QueueFullError or the signal's reason */
  async function waitForTurn(
    { health = "healthy", customerId = "" }: WebhookRequest,
    { hostname }: URL,
    abort: AbortController,
  ): Promise<Release> {
    const cancelWait = clock.setTimeout(() => abort.abort(), REQUEST_WAIT_MS_MAX);
    try {
      const lane = health === "slow" ? slowSlots : slots;
      const acquireSlot = () => lane.acquire(hostname, customerId, abort.signal);
      const release = await acquireSlot();
      if (rates.tryTakeHost(hostname, health)) return release;
      release();
      return await rates.waitForHost(hostname, customerId, abort.signal, acquireSlot, health);
    } finally {
      cancelWait();
    }
  }

  /** @throws OverRateError if nothing was sent because of a rate limit */
  async function sendNow(request: WebhookRequest, url: URL, abort: AbortController): Promise<WebhookAnswer> {
    const cancelDeadline = clock.setTimeout(() => abort.abort(), request.deadlineMs);
    try {
      const agent = url.protocol === "https:" ? agents.https : agents.http;
      const { status, bodyHead, retryAfter } = await sendOnOpenConnection(url, request, {
        agent,
        signal: abort.signal,
      });
      return { kind: "answered", status, bodyHead, retryAt: parseRetryAfter(retryAfter, clock.now()) };
    } catch (error) {
      if (isClosed || error instanceof OverRateError) throw error;
      return { kind: "failed", failure: abort.signal.aborted ? "timeout" : classify(error) };
    } finally {
      cancelDeadline();
    }
  }

  async function sendInSlot(request: WebhookRequest, url: URL, abort: AbortController): Promise<WebhookAttempt> {
    let release: Release = () => {};
    let cancelRelease = () => {};
    const releaseOnce = () => {
      cancelRelease();
      release();
      release = () => {};
    };
    try {
      release = await waitForTurn(request, url, abort);
      if (request.health !== "slow") cancelRelease = clock.setTimeout(releaseOnce, SLOT_HOLD_MS_MAX);
      request.onStart?.();
      const measure = startMeasuring(clock);
      const answer = await sendNow(request, url, abort);
      return { answer, timing: measure() };
    } catch {
      // Without a slot or above a rate limit, nothing was sent to the receiver.
      return UNAVAILABLE;
    } finally {
      releaseOnce();
    }
  }

  return {
    async post(request) {
      if (isClosed) return UNAVAILABLE;
      const checked = checkUrl(request.url);
      if (checked.kind === "invalid")
        return { answer: { kind: "failed", failure: "forbidden_address" }, timing: startMeasuring(clock)() };
      const abort = new AbortController();
      const end = running.tryAcquire(request.customerId ?? "");
      if (end === null) return UNAVAILABLE;
      const answer = sendInSlot(request, new URL(checked.url), abort).finally(end);
      pending.set(abort, answer);
      return answer.finally(() => pending.delete(abort));
    },
    async close() {
      isClosed = true;
      const answers = [...pending.values()];
      for (const abort of pending.keys()) abort.abort();
      await Promise.all(answers);
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

const UNAVAILABLE: WebhookAttempt = { answer: { kind: "failed", failure: "unavailable" }, timing: null };

/** Starts a time measurement. The returned function returns the start time and the duration since then. */
function startMeasuring(clock: Clock): () => RequestTiming {
  const startedAt = clock.now();
  const startedMonotonic = clock.monotonic();
  return () => ({ startedAt, durationMs: clock.monotonic() - startedMonotonic });
}

function classify(error: unknown): DeliveryFailure {
  if (error instanceof ForbiddenAddressError) return "forbidden_address";
  if (error instanceof ResponseLimitError) return "bad_response";
  const { code } = error as { readonly code?: unknown };
  // Codes of Node's HTTP parser.
  return typeof code === "string" && code.startsWith("HPE_") ? "bad_response" : "connection_failed";
}

interface Received {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly bodyHead: string;
}

interface SendOptions {
  readonly agent: GuardedAgent;
  readonly signal: AbortSignal;
}

/** Thrown if a reused connection ended before a response. */
class StaleConnectionError extends Error {}

/**
 * Sends the request. If the receiver had already closed the reused connection, sends the request again on another
 * connection. The number of retries is bounded, because each closed connection is removed from the pool.
 */
async function sendOnOpenConnection(url: URL, request: WebhookRequest, options: SendOptions): Promise<Received> {
  for (;;) {
    try {
      return await send(url, request, options);
    } catch (error) {
      if (!(error instanceof StaleConnectionError) || options.signal.aborted) throw error;
    }
  }
}

function send(url: URL, request: WebhookRequest, { agent, signal }: SendOptions): Promise<Received> {
  const guarded: GuardedRequestOptions = { connectSignal: signal, sharedBy: request.customerId };
  const requestOptions = {
    method: "POST",
    agent,
    signal,
    ...guarded,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    headers: {
      "user-agent": USER_AGENT,
      "content-type": "application/json",
      ...(request.customerId === undefined ? { connection: "close" } : {}),
      ...request.headers,
      "content-length": Buffer.byteLength(request.body),
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === "https:" ? https : http).request(url, requestOptions);
    limitResponse(outgoing);
    let hasResponse = false;
    const fail = (error: Error) => {
      // After the response headers, the response is accepted even if the body is incomplete.
      if (hasResponse) return;
      reject(outgoing.reusedSocket && isClosedConnection(error) ? new StaleConnectionError() : error);
    };
    outgoing.on("response", (response) => {
      hasResponse = true;
      const { statusCode: status = 0, headers } = response;
      readHead(response).then((bodyHead) => resolve({ status, retryAfter: headers["retry-after"], bodyHead }));
    });
    outgoing.on("error", fail);
    outgoing.on("close", () => fail(new Error("the connection closed without a response")));
    outgoing.end(request.body);
  });
}

const isClosedConnection = (error: Error): boolean =>
  ["ECONNRESET", "EPIPE"].includes((error as { readonly code?: string }).code ?? "");

/** Reads the body and returns its first bytes. Closes the connection after `RESPONSE_BODY_BYTES_MAX` bytes. Never rejects. */
function readHead(response: http.IncomingMessage): Promise<string> {
  const head: Buffer[] = [];
  let received = 0;
  response.on("data", (chunk: Buffer) => {
    if (received < STORED_BODY_BYTES_MAX) head.push(chunk.subarray(0, STORED_BODY_BYTES_MAX - received));
    received += chunk.length;
    if (received > RESPONSE_BODY_BYTES_MAX) response.destroy();
  });
  return new Promise((resolve) => {
    const finish = () => resolve(decodeHead(Buffer.concat(head)));
    // Only the status decides about success, so an early end of the body is not a failure.
    for (const event of ["end", "error", "close"]) response.on(event, finish);
  });
}

/** Decodes UTF-8 without an incomplete last character. Replaces NUL, which a database does not store as text. */
const decodeHead = (bytes: Buffer): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true }).replaceAll("\0", "\ufffd");
