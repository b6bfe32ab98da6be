import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "./auth.ts";

/** Authenticates, reserves and settles payments for single requests. */
export interface PaymentGate {
  /**
   * Returns the payer if the request has a valid payment of the route's price, or null if the route has no price.
   * Throws the payment requirements (402) if the payment is missing or invalid.
   */
  identify(request: FastifyRequest): Promise<Principal | null>;
  /**
   * Called with a validated request before the handler. Reserves the payment, or throws. Sends the stored response if
   * the same payment and request were already answered.
   *
   * @returns whether a response was sent (even if the client has disconnected); if so, the handler must not run
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /**
   * Called with the complete response before it is sent. Settles the payment. Returns the payload, or the payload of
   * the error response that replaces it. Never rejects.
   */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown>;
}

/** Whether the caller pays for this single request. */
export const isPaid = (request: FastifyRequest): boolean => request.principal?.kind === "payer";
