/** The stable codes of all public errors. `http/problem.ts` maps each to its HTTP status. */
export type ErrorCode =
  | "bad_request"
  | "malformed_payment"
  | "unauthorized"
  | "payment_required"
  | "account_required"
  | "plan_required"
  | "bot_check_failed"
  | "cross_site_refused"
  | "proof_required"
  | "market_not_found"
  | "event_not_found"
  | "analysis_not_found"
  | "not_found"
  | "customer_not_found"
  | "key_not_found"
  | "webhook_not_found"
  | "verification_not_found"
  | "method_not_allowed"
  | "payment_in_progress"
  | "email_taken"
  | "key_name_taken"
  | "key_limit_reached"
  | "ambiguous_query"
  | "not_executable"
  | "trade_limit_reached"
  | "webhook_limit_reached"
  | "body_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "quota_exceeded"
  | "analysis_failed"
  | "internal_error"
  | "venue_unavailable"
  | "venue_busy"
  | "store_unavailable"
  | "read_only"
  | "payment_unavailable"
  | "settlement_unknown"
  | "signup_not_configured"
  | "bot_check_unavailable"
  | "mail_unavailable"
  | "overloaded"
  | "too_many_connections"
  | "starting"
  | "draining";

/** An error with a public message. The cause is only logged. */
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

/**
 * Creates a 429 error. Its message contains the wait in whole seconds, and in minutes if it exceeds 120 seconds.
 *
 * @param sentence  names the exceeded limit, without a full stop
 */
export function rateLimited(sentence: string, waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const plural = retryAfterSeconds === 1 ? "" : "s";
  const minutes = retryAfterSeconds > 120 ? ` (${Math.ceil(retryAfterSeconds / 60)} minutes)` : "";
  const message = `${sentence}. Retry after ${retryAfterSeconds} second${plural}${minutes}.`;
  return new AppError("rate_limited", message, { details: { retryAfterSeconds } });
}

/** One validation error in the format of Pydantic v2, as in the 422 body. */
export interface ValidationItem {
  readonly type: string;
  /** Starts with `path`, `query`, `header` or `body`, followed by names and list positions. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** The invalid value; omitted if it is secret or too large. */
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** A request failed validation. The 422 response lists every error. */
export class InvalidRequestError extends Error {
  readonly errors: readonly ValidationItem[];

  constructor(errors: readonly ValidationItem[]) {
    super(errors.map((item) => `${item.loc.join(".")}: ${item.msg}`).join("; "));
    this.name = "InvalidRequestError";
    this.errors = errors;
  }
}

/** Creates the 422 error for one value that a rule of the service rejects. */
export const invalidValue = (loc: ValidationItem["loc"], reason: string, input: unknown): InvalidRequestError =>
  new InvalidRequestError([{ type: "value_error", loc, msg: `Value error, ${reason}`, input, ctx: { error: {} } }]);

/**
 * Creates the 422 error for an `Idempotency-Key` that belongs to a different request.
 *
 * @param request  noun for the kind of request, for the message
 */
export const idempotencyKeyReused = (key: string | null, request: string): InvalidRequestError =>
  invalidValue(["header", "idempotency-key"], `this key was sent with a different ${request}`, key);

/** Why a request to a venue failed. */
export type VenueFailure =
  | "timeout"
  | "network"
  | "rate_limited"
  | "server_error"
  | "client_error"
  | "bad_body"
  | "circuit_open";

/** A request to a venue failed. The code that throws it decides `retryable`. */
export class VenueError extends Error {
  readonly failure: VenueFailure;
  readonly status: number | null;
  readonly retryable: boolean;
  /** The wait that the venue requested (`Retry-After`); null if it sent none. */
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

/** An e-mail could not be sent. The code that throws it decides `retryable`. */
export class MailError extends Error {
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "MailError";
    this.retryable = options.retryable;
  }
}
