import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "./auth.ts";

/** Handles requests that pay for themselves. Other requests never reach it. */
export interface PaymentGate {
  /**
   * The payer, if the request carries a valid payment of the route's price; null if the route has no price. Throws the
   * payment requirements (402) if there is no valid payment.
   */
  identify(request: FastifyRequest): Promise<Principal | null>;
  /**
   * Called with a validated request, before the handler: reserves the payment, or throws. Sends the stored response if the
   * same payment and request were already answered.
   *
   * @returns whether it has sent a response, also if the client has disconnected; the handler must not run then
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /**
   * Called with the finished response, before anything is sent: settles the payment. Returns the payload, or the payload of
   * the error response that replaces it. Never rejects.
   */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown>;
}

/** Whether the request pays for itself. */
export const isPaid = (request: FastifyRequest): boolean => request.principal?.kind === "payer";
