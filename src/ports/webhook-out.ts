/** Why a delivery got no 2xx response. The reason is only logged. Customers see only that the attempt failed. */
export type DeliveryFailure = "forbidden_address" | "timeout" | "connection_failed" | "bad_response";

/** A POST of JSON to a URL that a customer chose. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The exact bytes that are signed, as UTF-8 text. */
  readonly body: string;
  /** Longest time from the DNS lookup to the last byte that is read of the response. */
  readonly deadlineMs: number;
}

export type WebhookAnswer =
  | {
      readonly kind: "answered";
      /** Status of the response. Redirects are not followed. */
      readonly status: number;
      /** Unix milliseconds until which the receiver asks for no further requests; null without a valid Retry-After. */
      readonly retryAt: number | null;
      /** The first bytes of the response body as text, at most 1 KiB. Not decompressed. */
      readonly bodyHead: string;
    }
  | { readonly kind: "failed"; readonly failure: DeliveryFailure };

/** Outgoing requests to addresses that customers chose. Connects only to public addresses. */
export interface WebhookOut {
  /** Never throws. A failure is a result. */
  post(request: WebhookRequest): Promise<WebhookAnswer>;
  close(): Promise<void>;
}

/** Decides whether a URL may be registered, without a DNS lookup. The text of `problem` is shown to the customer. */
export type CheckWebhookUrl = (
  url: string,
) => { readonly kind: "valid"; readonly url: string } | { readonly kind: "invalid"; readonly problem: string };
