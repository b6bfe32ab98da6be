import { AppError } from "../../domain/errors.ts";

const UNKNOWN_RETRY_AFTER_SECONDS = 5;

/** The payment is not accepted. `reason` is an x402 error code. Becomes a 402 with the payment requirements. */
export class PaymentRejectedError extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`The payment was rejected: ${reason}`);
    this.name = "PaymentRejectedError";
    this.reason = reason;
  }
}

export const paymentInProgress = () =>
  new AppError(
    "payment_in_progress",
    "This payment is being processed. Send the same payment again to get the response.",
    {
      details: { retryAfterSeconds: 1 },
    },
  );

export const settlementUnknown = (cause?: unknown) =>
  new AppError(
    "settlement_unknown",
    "It is not yet known whether the payment was settled. Send the same payment again.",
    {
      cause,
      details: { retryAfterSeconds: UNKNOWN_RETRY_AFTER_SECONDS },
    },
  );

/** Once a charge is possible, an unexpected failure must not report the payment as failed. */
export function throwSettlementUnknown(error: unknown): never {
  const isExpected = error instanceof AppError && error.code !== "store_unavailable";
  throw isExpected || error instanceof PaymentRejectedError ? error : settlementUnknown(error);
}
