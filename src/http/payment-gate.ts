import type { FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "./auth.ts";

/** Where a request that brings its own payment pays. A request of anyone else passes it by. */
export interface PaymentGate {
  /**
   * The payer, where a payment that meets the route's price came; null where the route has none. Throws what is asked for
   * where no good payment came.
   */
  identify(request: FastifyRequest): Promise<Principal | null>;
  /**
   * The request is valid and nothing is done yet: takes the payment, or throws. Where it has been answered before, sends
   * that answer.
   *
   * @returns whether it has answered: then there is nothing left to do, also where the client is gone meanwhile
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /** The answer is made and nothing of it is sent: gives it out, or what has to be said in its place. Never throws. */
  complete(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown>;
}

/** Whether the request pays for itself. */
export const isPaid = (request: FastifyRequest): boolean => request.principal?.kind === "payer";
