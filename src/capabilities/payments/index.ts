/** Pay per request (x402): prices, the payment ledger, settlement, and the gate that a paid request passes. */
export { findMisspeltAddress } from "./check-payment.ts";
export { createPayments, type PaymentPorts } from "./payments.ts";
