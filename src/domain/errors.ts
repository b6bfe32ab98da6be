/** Every error a caller can meet, by its stable code. The HTTP status of each stands in `http/problem.ts`. */
export type ErrorCode =
  | "bad_request"
  | "unauthorized"
  | "market_not_found"
  | "event_not_found"
  | "not_found"
  | "method_not_allowed"
  | "body_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "internal_error"
  | "venue_unavailable"
  | "store_unavailable"
  | "starting"
  | "draining";

/** An error whose message is safe to show; the cause is for the log only. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; details?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Why a call to a venue gave no answer. */
export type VenueFailure =
  | "timeout"
  | "network"
  | "rate_limited"
  | "server_error"
  | "client_error"
  | "bad_body"
  | "circuit_open";

/** A call to a venue failed. `retryable` is decided where the reason is known. */
export class VenueError extends Error {
  readonly failure: VenueFailure;
  readonly status: number | null;
  readonly retryable: boolean;
  /** How long the venue asked to be left alone, when it said so. */
  readonly retryAfterMs: number | null;

  constructor(
    failure: VenueFailure,
    message: string,
    options: { status?: number; retryable: boolean; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = "VenueError";
    this.failure = failure;
    this.status = options.status ?? null;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
