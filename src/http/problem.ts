import type { FastifyReply } from "fastify";
import { AppError, type ErrorCode, InvalidRequestError, type ValidationItem, VenueError } from "../domain/errors.ts";

/** HTTP status of every error code; the compiler asks for a row when a code is added. */
export const STATUS: Record<ErrorCode, number> = {
  bad_request: 400,
  malformed_payment: 400,
  unauthorized: 401,
  payment_required: 402,
  account_required: 403,
  plan_required: 403,
  bot_check_failed: 403,
  cross_site_refused: 403,
  proof_required: 403,
  market_not_found: 404,
  event_not_found: 404,
  not_found: 404,
  customer_not_found: 404,
  key_not_found: 404,
  verification_not_found: 404,
  method_not_allowed: 405,
  payment_in_progress: 409,
  email_taken: 409,
  key_name_taken: 409,
  key_limit_reached: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  venue_unavailable: 502,
  store_unavailable: 503,
  payment_unavailable: 503,
  settlement_unknown: 503,
  signup_not_configured: 503,
  bot_check_unavailable: 503,
  mail_unavailable: 503,
  starting: 503,
  draining: 503,
};

/** What a 503 tells a client to wait when the error itself does not say. */
const RETRY_AFTER_SECONDS = 2;

/** What every answer carries, whatever became of its request. */
export const COMMON_HEADERS: ReadonlySet<string> = new Set([
  "x-request-id",
  "x-content-type-options",
  "x-parallax-data",
]);

declare module "fastify" {
  interface FastifyReply {
    /** Of the problem that is answered, for the metrics; null where it is none. */
    problemCode: Problem["code"] | null;
  }
}

/** An answer that is not a success, ready to be written. */
export interface Problem {
  readonly status: number;
  readonly code: ErrorCode | "invalid_request";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Turns whatever was thrown into an answer that shows nothing internal.
 *
 * `AppError.details` that reach the caller: `allow` (405), `retryAfterSeconds` (Retry-After), `resetsOn` (quota 429:
 * Retry-After and, with `retryAfterSeconds`, the body), and whatever is in `headers` and `body` (402).
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof InvalidRequestError) return validationProblem(error.errors);
  if (error instanceof AppError) return appProblem(error);
  if (error instanceof VenueError) {
    return problem(502, "venue_unavailable", "The venue cannot be reached at the moment");
  }
  const known = fastifyProblem(error);
  return known ?? problem(500, "internal_error", "Internal Server Error");
}

/** Turns the reply into this answer, whatever it was before; gives the body to send. */
export function prepareProblem(reply: FastifyReply, answer: Problem): string {
  reply.problemCode = answer.code;
  reply.removeHeader("etag").removeHeader("link");
  reply
    .code(answer.status)
    .header("cache-control", "no-store")
    .headers({ ...answer.headers })
    .header("content-type", "application/json; charset=utf-8");
  return answer.body;
}

/** A plain `{"detail", "code"}` answer. */
export function problem(
  status: number,
  code: ErrorCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): Problem {
  return { status, code, headers, body: JSON.stringify({ detail, code, ...more }) };
}

function validationProblem(errors: readonly ValidationItem[]): Problem {
  return { status: 422, code: "invalid_request", headers: {}, body: JSON.stringify({ detail: errors }) };
}

function appProblem(error: AppError): Problem {
  const status = STATUS[error.code];
  const { allow, resetsOn, retryAfterSeconds } = error.details;
  const headers: Record<string, string> = { ...(error.details.headers as Record<string, string> | undefined) };
  const more: Record<string, unknown> = { ...(error.details.body as object | undefined) };
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (typeof allow === "string") headers.allow = allow;
  if (typeof retryAfterSeconds === "number") headers["retry-after"] = String(Math.max(0, Math.ceil(retryAfterSeconds)));
  else if (status === 503) headers["retry-after"] = String(RETRY_AFTER_SECONDS);
  if (typeof resetsOn === "string") {
    headers["retry-after"] = resetsOn;
    more.resets_on = resetsOn;
    if (typeof retryAfterSeconds === "number") more.retry_after_seconds = retryAfterSeconds;
  }
  return problem(status, error.code, error.message, headers, more);
}

/** The server framework's own refusals, by its error codes. */
function fastifyProblem(error: unknown): Problem | null {
  if (!(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return null;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return problem(413, "body_too_large", "The request body is larger than this service accepts");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return problem(415, "unsupported_media_type", "Send the body as application/json");
    case "FST_ERR_BAD_URL":
      return problem(400, "bad_request", "The URL holds a malformed percent-encoding");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return problem(404, "not_found", "Not Found");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return problem(400, "bad_request", "The body is not as long as Content-Length says");
  }
  const { statusCode } = error;
  // Only refusals that the framework itself calls the caller's mistake; its words are not ours, so they are not shown.
  const isFrameworks = typeof error.code === "string" && error.code.startsWith("FST_");
  return isFrameworks && typeof statusCode === "number" && statusCode >= 400 && statusCode < 500
    ? problem(400, "bad_request", "The request is malformed")
    : null;
}
