import { AppError, type ErrorCode, VenueError, type VenueFailure } from "../../domain/errors.ts";

/** An error as plain data, because a structured clone of an error loses its class and its fields. */
export type EncodedError =
  | {
      readonly kind: "app";
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: "venue";
      readonly failure: VenueFailure;
      readonly message: string;
      readonly status: number | null;
      readonly retryable: boolean;
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: "other"; readonly message: string };

export function encodeError(error: unknown): EncodedError {
  if (error instanceof AppError) {
    const { code, message, details } = error;
    return { kind: "app", code, message, details };
  }
  if (error instanceof VenueError) {
    const { failure, message, status, retryable, retryAfterMs } = error;
    return { kind: "venue", failure, message, status, retryable, retryAfterMs };
  }
  return { kind: "other", message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

export function decodeError(error: EncodedError): Error {
  switch (error.kind) {
    case "app":
      return new AppError(error.code, error.message, { details: error.details });
    case "venue": {
      const { failure, message, status, retryable, retryAfterMs } = error;
      return new VenueError(failure, message, { retryable, retryAfterMs, ...(status !== null && { status }) });
    }
    case "other":
      return new Error(`The ingest thread failed: ${error.message}`);
  }
}
