import type { FastifyReply } from "fastify";
import { AppError, type ErrorCode, InvalidRequestError, VenueError } from "../domain/errors.ts";
import { encodeJson } from "../lib/round-numbers.ts";

export const STATUSES: Record<ErrorCode, number> = {
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
  analysis_not_found: 404,
  not_found: 404,
  customer_not_found: 404,
  key_not_found: 404,
  webhook_not_found: 404,
  verification_not_found: 404,
  method_not_allowed: 405,
  payment_in_progress: 409,
  email_taken: 409,
  key_name_taken: 409,
  key_limit_reached: 409,
  ambiguous_query: 409,
  not_executable: 409,
  trade_limit_reached: 409,
  webhook_limit_reached: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  venue_unavailable: 502,
  venue_busy: 503,
  store_unavailable: 503,
  read_only: 503,
  payment_unavailable: 503,
  settlement_unknown: 503,
  analysis_failed: 503,
  signup_not_configured: 503,
  bot_check_unavailable: 503,
  mail_unavailable: 503,
  overloaded: 503,
  too_many_connections: 503,
  starting: 503,
  draining: 503,
};

/** Default Retry-After of 503 responses. */
export const DEFAULT_RETRY_AFTER_SECONDS = 2;

/** Headers of every response. */
export const COMMON_HEADER_NAMES: ReadonlySet<string> = new Set([
  "x-request-id",
  "x-content-type-options",
  "x-parallax-data",
]);

declare module "fastify" {
  interface FastifyReply {
    /** Error code of the response, or null if it is successful. Used by the metrics. */
    problemCode: Problem["code"] | null;
  }
}

export interface Problem {
  readonly status: number;
  readonly code: ErrorCode | "invalid_request";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Converts any thrown value to an error response without internal details.
 *
 * `AppError.details` in the response: `allow` (405), `retryAfterSeconds` (Retry-After; with `resetsOn`, the body),
 * `retryAfter` (Retry-After as text), `resetsOn` (quota 429: the body), and all of `headers` and `body` (402).
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof InvalidRequestError)
    return { status: 422, code: "invalid_request", headers: {}, body: JSON.stringify({ detail: error.errors }) };
  if (error instanceof AppError) return toAppProblem(error);
  if (error instanceof VenueError) return toVenueProblem(error);
  return toFastifyProblem(error) ?? createProblem(500, "internal_error", "Internal Server Error");
}

function toVenueProblem({ failure, retryAfterMs }: VenueError): Problem {
  const seconds = retryAfterMs === null ? DEFAULT_RETRY_AFTER_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const headers = { "retry-after": String(seconds) };
  return failure === "rate_limited"
    ? createProblem(503, "venue_busy", "The requests that this venue permits are used up at present", headers)
    : createProblem(502, "venue_unavailable", "The venue cannot be reached at the moment", headers);
}

export function setCommonHeaders(requestId: string, reply: FastifyReply, data: string): void {
  reply.header("x-request-id", requestId);
  reply.header("x-content-type-options", "nosniff");
  reply.header("x-parallax-data", data);
}

/** Sets status and headers of the reply to those of the error response. Returns the body to send. */
export function prepareProblem(reply: FastifyReply, problem: Problem): string {
  reply.problemCode = problem.code;
  reply.removeHeader("etag").removeHeader("link");
  reply
    .code(problem.status)
    .header("cache-control", "no-store")
    .headers({ ...problem.headers })
    .header("content-type", "application/json; charset=utf-8");
  return problem.body;
}

/** Creates an error response with the body `{"detail", "code"}`. */
export function createProblem(
  status: number,
  code: ErrorCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  extraFields: Readonly<Record<string, unknown>> = {},
): Problem {
  return { status, code, headers, body: encodeJson({ detail, code, ...extraFields }) };
}

function toAppProblem(error: AppError): Problem {
  const status = STATUSES[error.code];
  const { allow, resetsOn, retryAfter, retryAfterSeconds } = error.details;
  const headers: Record<string, string> = { ...(error.details.headers as Record<string, string> | undefined) };
  const extraFields: Record<string, unknown> = { ...(error.details.body as object | undefined) };
  if (status === 401) headers["www-authenticate"] = "Bearer";
  if (typeof allow === "string") headers.allow = allow;
  if (typeof retryAfterSeconds === "number") headers["retry-after"] = String(Math.max(0, Math.ceil(retryAfterSeconds)));
  else if (status === 503) headers["retry-after"] = String(DEFAULT_RETRY_AFTER_SECONDS);
  if (typeof retryAfter === "string") headers["retry-after"] = retryAfter;
  if (typeof resetsOn === "string") {
    extraFields.resets_on = resetsOn;
    if (typeof retryAfterSeconds === "number") extraFields.retry_after_seconds = retryAfterSeconds;
  }
  return createProblem(status, error.code, error.message, headers, extraFields);
}

/** Converts an error raised by Fastify; returns null for other errors. */
function toFastifyProblem(error: unknown): Problem | null {
  if (!(error instanceof Error) || !("code" in error) || !("statusCode" in error)) return null;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return createProblem(413, "body_too_large", "The request body is larger than this service accepts");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return createProblem(415, "unsupported_media_type", "Send the body as application/json");
    case "FST_ERR_BAD_URL":
      return createProblem(400, "bad_request", "The URL contains a malformed percent-encoding");
    case "FST_ERR_MAX_PARAM_LENGTH":
      return createProblem(404, "not_found", "Not Found");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return createProblem(400, "bad_request", "The body length does not match Content-Length");
  }
  const { statusCode } = error;
  // Replaces the messages of Fastify's client errors, which are not part of this API.
  const isFastifyError = typeof error.code === "string" && error.code.startsWith("FST_");
  return isFastifyError && typeof statusCode === "number" && statusCode >= 400 && statusCode < 500
    ? createProblem(400, "bad_request", "The request is malformed")
    : null;
}
