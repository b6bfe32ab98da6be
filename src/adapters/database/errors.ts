import { AppError } from "../../domain/errors.ts";

/**
 * SQLSTATE classes and codes of temporary failures: connection (08), resources such as a full disk or too many clients
 * (53), operator intervention and statement timeout (57), I/O errors (58), read-only transaction (25006), lock timeout
 * (55P03).
 */
const UNAVAILABLE_STATE_PATTERN = /^(08|53|57|58)|^25006$|^55P03$/;
const SYSTEM_FAILURE_CODES = new Set([
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
const CONNECTION_MESSAGE_PATTERN =
  /connection (terminated|error|timeout)|timeout exceeded when trying to connect|query read timeout|cannot use a pool after|not queryable/i;

/**
 * Damage of the embedded engine that a restart repairs.
 *
 * - `memory`: the WebAssembly machine failed or PostgreSQL panicked. Further statements might never return.
 * - `files`: the engine can no longer create some files. If the process has no free descriptor, the engine's file
 *   system registers a new file before it fails to create it. Until a restart the file can be neither created nor
 *   opened.
 */
export type EngineDamage = "memory" | "files";

const SQLSTATE_PATTERN = /^[0-9A-Z]{5}$/;
/** SQLSTATE of `could not create file: File exists`. */
const FILE_EXISTS_STATE = "58P02";

/** Returns the damage of the embedded engine that threw `error`, or null if the engine still works. */
export function findEngineDamage(error: unknown): EngineDamage | null {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  // An error without a SQLSTATE is a failure of the WebAssembly machine.
  if (typeof code !== "string" || !SQLSTATE_PATTERN.test(code)) return "memory";
  if (severity === "PANIC" || severity === "FATAL") return "memory";
  return code === FILE_EXISTS_STATE ? "files" : null;
}

/** Returns whether the error is a response of the server. The connection then works and the statement had no effect. */
export function isAnswer(error: unknown): boolean {
  const { code } = ((error as { readonly cause?: unknown } | null)?.cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && SQLSTATE_PATTERN.test(code) && !/^(08|57P)/.test(code);
}

/** Creates a `store_unavailable` error. The message is public; the cause is only logged. */
export function storeUnavailable(message: string, cause?: unknown): AppError {
  return new AppError("store_unavailable", message, { cause });
}

/** Converts the error to `store_unavailable` if a retry can succeed; returns any other error unchanged. */
export function toStoreError(cause: unknown): unknown {
  if (cause instanceof AppError || typeof cause !== "object" || cause === null) return cause;
  // A driver's error has a SQLSTATE or the name of a system error as its code.
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  const isUnavailable =
    (typeof code === "string" && (UNAVAILABLE_STATE_PATTERN.test(code) || SYSTEM_FAILURE_CODES.has(code))) ||
    (typeof message === "string" && CONNECTION_MESSAGE_PATTERN.test(message)) ||
    (cause instanceof AggregateError && cause.errors.some((inner) => toStoreError(inner) instanceof AppError));
  return isUnavailable ? storeUnavailable("The store cannot be reached at the moment.", cause) : cause;
}
