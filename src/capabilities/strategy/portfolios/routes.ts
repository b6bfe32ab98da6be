import type { FastifyInstance } from "fastify";
import { METERING, type Metering } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { createPaperTrades } from "./paper-trades.ts";
import { presentPaperTrade } from "./present.ts";
import { createPortfolioSchemas } from "./schema.ts";
import type { PortfolioService } from "./service.ts";

/** Calls are free, like reports of trades. Requires an account, because paper trades belong to an account. */
const PAPER_TRADE_METERING: Metering = { ...METERING.ACCOUNT, minimumPlan: "pro" };
/** No price, because pay-per-request callers have no portfolio. */
const PORTFOLIO_METERING: Metering = { ...METERING.LISTING, priceTier: null, needsAccount: true };

/** POST /v1/trades/shadow and GET /v1/portfolio. @param venues  ids of the venues that clients can query */
export function portfolioRoutes(
  app: FastifyInstance,
  service: PortfolioService,
  paperTrades: ReturnType<typeof createPaperTrades>,
  venues: readonly string[],
): void {
  const schemas = createPortfolioSchemas(venues);
  const options = { access: "key", tag: "Portfolio" } as const;
  defineRoute(app, {
    ...options,
    method: "POST",
    url: "/v1/trades/shadow",
    metering: PAPER_TRADE_METERING,
    summary: "Enter a paper trade",
    description:
      "Buys contracts on paper at the price that an order would pay now: it walks the current order book and adds the taker fee. The contracts are rounded down to the contract step of the market. The whole order is bought, or nothing: an order below the market's smallest one is a 409 `not_executable`, which names the smallest order and its cost. A trade first closes contracts of the other side that you hold in the market, oldest first: a NO contract at q closes a YES contract at 1 - q. The call is free of charge. An account has at most 10,000 paper trades, and trades are deleted two years after their entry.",
    operationId: "enter_paper_trade",
    headers: schemas.tradeHeaders,
    body: schemas.tradeBody,
    responses: { 200: schemas.PaperTrade },
    errors: ["market_not_found", "not_executable", "trade_limit_reached", "venue_unavailable", "store_unavailable"],
    async handler({ body: { platform: venue, market_id: marketId, side, size_usd: sizeUsd }, headers, principal }) {
      const order = { venue, marketId, side, sizeUsd };
      const idempotencyKey = headers["idempotency-key"] ?? null;
      return presentPaperTrade(await paperTrades.enter(principal.customerId, order, idempotencyKey));
    },
  });
  defineRoute(app, {
    ...options,
    method: "GET",
    url: "/v1/portfolio",
    metering: PORTFOLIO_METERING,
    summary: "Retrieve your positions and their profit",
    description:
      "Returns the open positions of your paper trades or of the trades that you reported, the resolved ones, and a summary of their profit. Trades have no buy or sell: a NO contract at q first closes YES contracts at 1 - q, oldest first, and the reverse. The rest of a trade opens a position. Profit by day uses the stored prices at midnight UTC, the current price for today, and the entry price while there is none. Reported trades count at the time of the report and without fees, which are unknown. Only you can see your portfolio.",
    operationId: "get_portfolio",
    query: schemas.portfolioQuery,
    responses: { 200: schemas.Portfolio },
    errors: ["store_unavailable"],
    handler: ({ query: { mode = "shadow" }, principal }) => service.getPortfolio(principal.customerId, mode),
  });
}
