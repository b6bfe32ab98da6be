/** Pay per request (x402): prices, the ledger of payments, and the payment gate of the HTTP server. */
export { createChainReader } from "./chain.ts";
export { createFacilitator } from "./facilitator.ts";
export { createPaymentGate } from "./payment-gate.ts";
export { createPaymentReconciler } from "./reconciler.ts";
export { createPaymentService } from "./service.ts";
export { findDisagreements } from "./startup-check.ts";
export { createSignatureCheck, findMisspeltAddress } from "./validate-payment.ts";
