/** Pay per request (x402): prices, the payment ledger, settlement, and the payment gate of the HTTP server. */
export { createPayments, type PaymentPorts } from "./payments.ts";
export { findInvalidChecksum } from "./validate-payment.ts";
