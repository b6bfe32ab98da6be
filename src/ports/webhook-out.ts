/**
 * Why there was no response. The reason is only logged; customers only see that the attempt failed.
 * - `unavailable`: this node has too many requests, in total or to this host, or is stopping. This is not a failure of
 * the
 *   receiver. Unless the node was stopping, nothing was sent to the receiver.
 */
export type DeliveryFailure = "forbidden_address" | "timeout" | "connection_failed" | "bad_response" | "unavailable";

/**
 * Health of the receiver in earlier requests. Requests to slow receivers use separate slots. All slow receivers on a
 * host together get at most a quarter of the host's rate limit, and so do all failing receivers on it.
 */
export type ReceiverHealth = "healthy" | "slow" | "failing";

/** A POST of JSON to a URL that a customer chose. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes that are signed, as UTF-8 text. */
  readonly body: string;
  /** Maximum time from the start of the request, including the DNS lookup, to the last byte read of the response. */
  readonly deadlineMs: number;
  /** A connection is reused only for requests of the same customer. Without an id, each request gets its own. */
  readonly customerId?: string;
  /** `healthy` by default. */
  readonly health?: ReceiverHealth;
  /** Called once, when the request has a slot and starts. */
  readonly onStart?: () => void;
}

export type WebhookAnswer =
  | {
      readonly kind: "answered";
      /** Status of the response. Redirects are not followed. */
      readonly status: number;
      /** Unix milliseconds until which the receiver accepts no further requests; null without a valid Retry-After. */
      readonly retryAt: number | null;
      /**
       * The first 1 KiB of the response body as UTF-8, not decompressed. NUL and invalid bytes are replaced by U+FFFD.
       * It may be incomplete if the connection ended early; only the status decides whether the request was accepted.
       */
      readonly bodyHead: string;
    }
  | { readonly kind: "failed"; readonly failure: DeliveryFailure };

/** Start and duration of a request, without the time in the queue. */
export interface RequestTiming {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface WebhookAttempt {
  readonly answer: WebhookAnswer;
  /** Null if and only if the failure is `unavailable`. The duration is 0 for a rejected URL. */
  readonly timing: RequestTiming | null;
}

/** Outgoing requests to addresses that customers chose. Connects only to public addresses. */
export interface WebhookOut {
  /** Never throws; a failure is returned. Waits at most a bounded time for a slot. */
  post(request: WebhookRequest): Promise<WebhookAttempt>;
  close(): Promise<void>;
}

/** Decides whether a URL may be registered, without a DNS lookup. The text of `problem` is shown to the customer. */
export type CheckWebhookUrl = (
  url: string,
) => { readonly kind: "valid"; readonly url: string } | { readonly kind: "invalid"; readonly problem: string };
