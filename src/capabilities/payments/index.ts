/** Pay per request (x402): prices, the payment ledger, settlement, and the payment gate of the HTTP server. */
export { createPayments, type PaymentPorts } from "./payments.ts";
export { findMisspeltAddress } from "./validate-payment.ts";
