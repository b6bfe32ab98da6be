/** Connections to one host at once; requests beyond them wait, and their deadlines go on meanwhile. */
export const CONNECTIONS_PER_HOST_MAX = 16;

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The whole exchange, from connect to the last byte. */
  readonly deadlineMs: number;
  /** More bytes than this end the exchange with an error. */
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal;
}

export interface IncomingResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Unix milliseconds when the answer's head arrived: the closest we know to when it was made. */
  readonly receivedAt: number;
}

/** HTTP to hosts the operator configured. Throws `VenueError` (network, timeout, bad_body); any status is an answer. */
export interface HttpOut {
  send(request: OutgoingRequest): Promise<IncomingResponse>;
}
