import type { FastifyInstance } from "fastify";
import { type ErrorFormat, installErrorHandlers } from "../errors.ts";
import type { ExchangeContext, ExchangeService } from "../exchange.ts";
import { enforceRequestLimits, type RequestLimits } from "./limits.ts";

const ERROR_FORMAT: ErrorFormat = {
  toBody: ({ message }) => ({ error: message }),
  invalidRequest: "Invalid payload",
  internalError: "internal server error",
  notFound: () => "not found",
};

/** Creates one of the venue's REST hosts. */
export function createRestHost(
  name: "gamma" | "clob" | "data",
  { enforceLimits, now }: ExchangeContext,
  limits: RequestLimits,
  installRoutes: (app: FastifyInstance) => void,
  errorFormat: Partial<ErrorFormat> = {},
): ExchangeService {
  return {
    venue: "polymarket",
    name,
    listener: `polymarket-${name}`,
    install(app) {
      if (enforceLimits) enforceRequestLimits(app, limits, now);
      installErrorHandlers(app, { ...ERROR_FORMAT, ...errorFormat });
      installRoutes(app);
    },
  };
}
