import { AppError } from "../../domain/errors.ts";

/** A statement's failure as both homes of the store tell it: `code` is the five-character SQLSTATE when there is one. */
interface StoreFailure {
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * SQLSTATE classes and codes that say "not now", not "not like this": connection (08), resources such as a full disk or
 * too many clients (53), operator intervention including a statement's timeout (57), input and output errors (58), a
 * store that is read only (25006), a lock not given in time (55P03).
 */
const UNAVAILABLE_STATE = /^(08|53|57|58)|^25006$|^55P03$/;
const SYSTEM_FAILURES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
  "ENOENT",
  "ENOSPC",
]);
const CONNECTION_MESSAGE =
  /connection (terminated|error|timeout)|timeout exceeded when trying to connect|query read timeout|cannot use a pool after|not queryable/i;

/** An error for "the store gives no answer now"; the cause is for the log. */
export function storeUnavailable(message: string, cause?: unknown): AppError {
  return new AppError("store_unavailable", message, { cause });
}

/** What a statement threw, as `store_unavailable` when trying again later makes sense, else unchanged. */
export function toStoreError(cause: unknown): unknown {
  if (cause instanceof AppError || typeof cause !== "object" || cause === null) return cause;
  const { code, message } = cause as StoreFailure;
  const isUnavailable =
    (typeof code === "string" && (UNAVAILABLE_STATE.test(code) || SYSTEM_FAILURES.has(code))) ||
    (typeof message === "string" && CONNECTION_MESSAGE.test(message)) ||
    (cause instanceof AggregateError && cause.errors.some((inner) => toStoreError(inner) instanceof AppError));
  return isUnavailable ? storeUnavailable("The store cannot be reached at the moment.", cause) : cause;
}
