/** Simulated Manifold Markets: the public REST interface and the WebSocket. */
import { installErrorHandlers } from "../errors.ts";
import type { ExchangeFactory } from "../exchange.ts";
import { createContracts } from "./contracts.ts";
import { installRestRoutes } from "./rest.ts";
import { installSockets } from "./sockets.ts";

export { manifoldProbability, resolutionOf } from "./contracts.ts";
export { manifoldContractId, manifoldMarketId } from "./ids.ts";

export const manifoldExchange: ExchangeFactory = (context) => {
  const contracts = createContracts(context.world, context.now);
  return [
    {
      venue: "manifold",
      name: "rest",
      basePath: "/v0",
      install(app) {
        installErrorHandlers(app, {
          toBody: ({ message, details }) => ({ message, details }),
          invalidRequest: "Error validating request.",
          internalError: "Error processing request.",
          notFound: () => "Requested route was not found.",
        });
        installRestRoutes(app, context, contracts);
      },
    },
    {
      venue: "manifold",
      name: "ws",
      basePath: "/ws",
      install: (app) => installSockets(app, context, contracts),
    },
  ];
};
