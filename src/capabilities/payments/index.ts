/** Pay per request (x402): what a call costs, the ledger of payments, and the till at which requests pay. */
export { createChainReader } from "./chain.ts";
export { createSignatureCheck, findMisspeltAddress } from "./check-payment.ts";
export { createFacilitator } from "./facilitator.ts";
export { createPaymentGate } from "./payment-gate.ts";
export { createPaymentReconciler } from "./reconciler.ts";
export { createPaymentService } from "./service.ts";
export { findDisagreements } from "./start-check.ts";
