/** Every error a caller can meet, by its stable code. The HTTP status of each stands in `http/problem.ts`. */
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
  | "not_found"
  | "customer_not_found"
  | "key_not_found"
  | "verification_not_found"
  | "method_not_allowed"
  | "payment_in_progress"
  | "email_taken"
  | "key_name_taken"
  | "key_limit_reached"
  | "body_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "quota_exceeded"
  | "internal_error"
  | "venue_unavailable"
  | "store_unavailable"
  | "payment_unavailable"
  | "settlement_unknown"
  | "signup_not_configured"
  | "bot_check_unavailable"
  | "mail_unavailable"
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

/**
 * A 429 whose wait is true: rounded up to whole seconds, a long one told in minutes too.
 *
 * @param sentence  what was too much, without a full stop
 */
export function rateLimited(sentence: string, waitMs: number): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
  const plural = retryAfterSeconds === 1 ? "" : "s";
  const minutes = retryAfterSeconds > 120 ? ` (${Math.ceil(retryAfterSeconds / 60)} minutes)` : "";
  const message = `${sentence}. Retry after ${retryAfterSeconds} second${plural}${minutes}.`;
  return new AppError("rate_limited", message, { details: { retryAfterSeconds } });
}

/** One thing wrong with a request, in Pydantic v2's vocabulary (`type`, `msg`, `ctx`), as the 422 body shows it. */
export interface ValidationItem {
  readonly type: string;
  /** Begins with `path`, `query`, `header` or `body`; then names and list positions. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** The offending value; left out where it is secret or too large to repeat. */
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** The caller's request breaks rules of its own form; becomes a 422 listing every item. */
export class InvalidRequestError extends Error {
  readonly errors: readonly ValidationItem[];

  constructor(errors: readonly ValidationItem[]) {
    super(errors.map((item) => `${item.loc.join(".")}: ${item.msg}`).join("; "));
    this.name = "InvalidRequestError";
    this.errors = errors;
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

/** A letter could not be handed over. `retryable` is decided where the reason is known. */
export class MailError extends Error {
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = "MailError";
    this.retryable = options.retryable;
  }
}
