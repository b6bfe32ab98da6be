import { AppError, type ErrorCode } from "../../../src/domain/errors.ts";

/** Returns a check for `assert.rejects`: whether an error has this code. */
export const hasErrorCode =
  (code: ErrorCode) =>
  (error: unknown): boolean =>
    error instanceof AppError && error.code === code;

export const isStoreUnavailable = hasErrorCode("store_unavailable");
