/** Limit of simultaneous connections to one host. Further requests wait, and their deadlines include the wait. */
export const CONNECTIONS_PER_HOST_MAX = 16;

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Longest time from connecting to the last byte of the response. */
  readonly deadlineMs: number;
  /** A longer response body is an error. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
}

export interface IncomingResponse {
  readonly status: number;
  /** Response headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Unix milliseconds when the response headers arrived. */
  readonly receivedAt: number;
}

/** Outgoing HTTP. Throws `VenueError` (network, timeout, bad_body); resolves for every HTTP status. */
export interface HttpOut {
  send(request: OutgoingRequest): Promise<IncomingResponse>;
}
