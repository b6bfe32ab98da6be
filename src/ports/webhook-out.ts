/**
 * Why no response arrived. The reason is only logged. Customers receive only that the attempt failed.
 * - `unavailable`: this node has too many requests, in total or to this host, or is stopping. It is unrelated to the
 *   receiver, so it is not a failure of the webhook. Unless the node is stopping, the receiver got no byte.
 */
export type DeliveryFailure = "forbidden_address" | "timeout" | "connection_failed" | "bad_response" | "unavailable";

/**
 * How the receiver answered before. Requests to slow receivers have separate slots. Slow receivers of a host get at
 * most a quarter of its rate, and so do failing ones.
 */
export type ReceiverHealth = "healthy" | "slow" | "failing";

/** A POST of JSON to a URL that a customer chose. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes that are signed, as UTF-8 text. */
  readonly body: string;
  /**
   * Longest time from the start of the request to the last byte that is read of the response. Includes the name lookup.
   */
  readonly deadlineMs: number;
  /**
   * Connections are reused only for requests of the same customer. Without an id, each request has its own connection.
   */
  readonly customerId?: string;
  /** `healthy` by default. */
  readonly health?: ReceiverHealth;
  /** Called once, when the request has waited for its slot and starts. */
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
       * The first 1 KiB of the response body, read as UTF-8 and not decompressed. NUL and invalid bytes are U+FFFD.
       * Shorter than the body if it ended too early: the status alone decides whether the request was accepted.
       */
      readonly bodyHead: string;
    }
  | { readonly kind: "failed"; readonly failure: DeliveryFailure };

/** The duration of a request, without the wait for its turn. */
export interface RequestTiming {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
}

export interface WebhookAttempt {
  readonly answer: WebhookAnswer;
  /** Null if, and only if, the failure is `unavailable`. A URL that is refused has a duration of zero. */
  readonly timing: RequestTiming | null;
}

/** Outgoing requests to addresses that customers chose. Connects only to public addresses. */
export interface WebhookOut {
  /** Never throws. A failure is a result. Waits for a bounded time until the request may start. */
  post(request: WebhookRequest): Promise<WebhookAttempt>;
  close(): Promise<void>;
}

/** Decides whether a URL may be registered, without a DNS lookup. The text of `problem` is shown to the customer. */
export type CheckWebhookUrl = (
  url: string,
) => { readonly kind: "valid"; readonly url: string } | { readonly kind: "invalid"; readonly problem: string };
