/** Simulated Manifold Markets: the public REST interface and the WebSocket. */
import { allowCrossOriginRequests } from "../cross-origin.ts";
import type { ExchangeFactory } from "../exchange.ts";
import { Contracts } from "./contracts.ts";
import { installRestRoutes } from "./rest.ts";
import { installSockets } from "./sockets.ts";

export { manifoldProbability, resolutionOf } from "./contracts.ts";
export { manifoldContractId, manifoldMarketId } from "./ids.ts";

export const manifoldExchange: ExchangeFactory = (context) => {
  const contracts = new Contracts(context.world, context.now);
  return [
    {
      venue: "manifold",
      name: "rest",
      basePath: "/v0",
      scheme: "http",
      listener: "manifold",
      install(app) {
        allowCrossOriginRequests(app);
        app.setErrorHandler((error, _request, reply) => {
          const status = (error as { statusCode?: number }).statusCode ?? 500;
          const message = status < 500 ? "Error validating request." : "Error processing request.";
          return reply.code(status).send({ message });
        });
        app.setNotFoundHandler((_request, reply) =>
          reply.code(404).send({ message: "Requested route was not found." }),
        );
        installRestRoutes(app, context, contracts);
      },
    },
    {
      venue: "manifold",
      name: "ws",
      basePath: "/ws",
      scheme: "ws",
      listener: "manifold",
      install: (app) => installSockets(app, context, contracts),
    },
  ];
};
