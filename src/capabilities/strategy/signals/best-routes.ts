import type { FastifyInstance } from "fastify";
import Type, { type Static } from "typebox";
import { METERING } from "../../../domain/metering.ts";
import { SCHEMA_NAME } from "../../../http/named-schemas.ts";
import { defineRoute } from "../../../http/route.ts";
import {
  amount,
  difference,
  marketNames,
  nullableOneOf,
  oneOf,
  probability,
  timestamp,
} from "../../../http/schema-types.ts";
import { REFERENCE_BANKROLL_USD, SIZE_CAPS } from "../../../trading/index.ts";
import { FRESHNESS_LEVELS } from "../../analysis/analyses/index.ts";
import { BOOK_SOURCES } from "./known-book.ts";

const LIMIT_DEFAULT = 20;
const EDGE_MIN_DEFAULT = 0.01;

const bestSignalSchema = (venues: readonly string[]) =>
  Type.Object(
    {
      ...marketNames(venues),
      recommendation: oneOf(["BUY_YES", "BUY_NO"], "What to buy."),
      target_price: probability("Highest price of the side to buy that leaves an edge of 0.01 after the taker fee."),
      edge: difference("`model_probability` minus `yes_price`."),
      executable_edge: Type.Number({ description: "Probability of the side minus `average_cost`." }),
      model_probability: probability("Our estimate of the probability of YES at `yes_price`."),
      model_probability_at: timestamp("Time of `model_probability` and `yes_price`."),
      yes_price: probability("Current price of YES."),
      confidence: probability("Confidence of the estimate."),
      size_pct: probability("Share of the bankroll to spend, as in `POST /v1/signals`."),
      size_usd: amount(`What the order costs, fee included, for a bankroll of ${REFERENCE_BANKROLL_USD} USD.`),
      contracts: amount("Contracts of the order."),
      average_cost: probability("`size_usd` divided by `contracts`."),
      capped_by: nullableOneOf(
        SIZE_CAPS,
        "`depth`: no more is known to be offered at `target_price` or less. `max_position`: a tenth of the bankroll. Else null.",
      ),
      price_source: oneOf(
        BOOK_SOURCES,
        "`book`: the whole order book is known. `quote`: only the best prices and their sizes.",
      ),
      priced_at: timestamp("When these prices were confirmed."),
      freshness: oneOf(FRESHNESS_LEVELS, "Freshness of the analysis."),
      analyzed_at: timestamp("Time of the analysis."),
    },
    { [SCHEMA_NAME]: "BestSignal" },
  );

export type BestSignal = Static<ReturnType<typeof bestSignalSchema>>;

/** GET /v1/signals/best. @param venues  ids of the venues that clients can query */
export function bestSignalRoutes(
  app: FastifyInstance,
  findBest: (edgeMin: number, limit: number) => Promise<BestSignal[]>,
  venues: readonly string[],
): void {
  defineRoute(app, {
    access: "key",
    tag: "Strategy",
    metering: METERING.STRATEGY,
    method: "GET",
    url: "/v1/signals/best",
    summary: "List the best signals",
    description:
      "Returns the trades that the service recommends at this moment, the largest `executable_edge` first. They are computed from the current estimates of markets that have been analysed, and from the order books and prices that the service knows without asking the venues, at most five minutes old. Of markets without a tracked order book only the best price counts. The 500 markets with the largest `edge` are compared. Nothing is stored: the list is no part of the track record.",
    operationId: "list_best_signals",
    query: Type.Object({
      min_edge: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          default: EDGE_MIN_DEFAULT,
          description: "Smallest `executable_edge`. Signals with less than 0.01 do not exist.",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100,
          default: LIMIT_DEFAULT,
          description: "Maximum number of signals.",
        }),
      ),
    }),
    responses: { 200: Type.Array(bestSignalSchema(venues)) },
    handler: ({ query }) => findBest(query.min_edge ?? EDGE_MIN_DEFAULT, query.limit ?? LIMIT_DEFAULT),
  });
}
