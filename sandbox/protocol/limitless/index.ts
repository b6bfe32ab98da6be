/**
 * Simulated Limitless Exchange: REST without a version prefix, and Socket.IO with the namespace `/markets`. A group
 * contains its child markets. Some single markets are AMMs with a contract address as id. A 15-minute round leaves the
 * active list when it closes. No endpoint lists resolved markets.
 */
import { installErrorHandlers } from "../errors.ts";
import type { ExchangeFactory, ExchangeService } from "../exchange.ts";
import { createCatalogue } from "./catalogue.ts";
import { installRateLimit } from "./limits.ts";
import { ERROR_FORMAT } from "./requests.ts";
import { installMarketRoutes } from "./routes-markets.ts";
import { installPageRoutes } from "./routes-pages.ts";
import { installTradingRoutes } from "./routes-trading.ts";
import { installSockets } from "./sockets.ts";

export { limitlessAddress, limitlessEventSlug, limitlessMarketId, limitlessSlug, limitlessTokens } from "./ids.ts";
export { publishedBook } from "./published-book.ts";

export const limitlessExchange: ExchangeFactory = (context) => {
  const catalogue = createCatalogue(context);
  const rest: ExchangeService = {
    venue: "limitless",
    name: "rest",
    install(app) {
      installErrorHandlers(app, ERROR_FORMAT);
      installRateLimit(app, context);
      installMarketRoutes(app, context, catalogue);
      installTradingRoutes(app, context, catalogue);
      installPageRoutes(app, context);
    },
  };
  const ws: ExchangeService = {
    venue: "limitless",
    name: "ws",
    listener: "limitless-ws",
    install(app) {
      installErrorHandlers(app, ERROR_FORMAT);
      installSockets(app, context, catalogue);
    },
  };
  return [rest, ws];
};
