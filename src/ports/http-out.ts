/** Maximum number of concurrent connections to one host. Others wait; this counts towards their timeouts. */
export const CONNECTIONS_PER_HOST_MAX = 16;

/**
 * Called once per request, even if it fails, with the bytes of the response body: as received (compressed), and
 * decoded. Headers are not included.
 */
export type ByteCounter = (receivedBytes: number, decodedBytes: number) => void;

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum time from connecting to the last byte of the decoded response. */
  readonly deadlineMs: number;
  /** Maximum size of the response body, both as received and decoded. A larger body is an error. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
  readonly countBytes?: ByteCounter;
}

export interface IncomingResponse {
  readonly status: number;
  /** Response headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded body. */
  readonly body: string;
  /** Unix milliseconds when the response headers arrived. */
  readonly receivedAt: number;
}

/** Outgoing HTTP. Throws `VenueError` (network, timeout, bad_body); resolves for every HTTP status. */
export interface HttpOut {
  send(request: OutgoingRequest): Promise<IncomingResponse>;
}
