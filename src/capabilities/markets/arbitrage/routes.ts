import type { FastifyInstance } from "fastify";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import type { OpportunityFilter } from "./model.ts";
import { presentCrossVenueList, presentSetList } from "./present.ts";
import { createArbitrageSchemas, type FilterQuery, LIMIT_DEFAULT, MIN_SPREAD_DEFAULT } from "./schema.ts";
import type { ArbitrageService } from "./service.ts";

const readFilter = (query: FilterQuery): OpportunityFilter => ({
  minSpread: query.min_spread ?? MIN_SPREAD_DEFAULT,
  minNetSpread: query.min_net_spread ?? null,
  venue: query.platform ?? null,
  limit: query.limit ?? LIMIT_DEFAULT,
});

export function arbitrageRoutes(app: FastifyInstance, service: ArbitrageService, venues: VenueIds): void {
  const schemas = createArbitrageSchemas(venues);
  const options = { method: "GET", access: "key", tag: "Arbitrage" } as const;

  defineRoute(app, {
    ...options,
    metering: METERING.DEEP,
    url: "/v1/arbitrage",
    summary: "List arbitrage opportunities",
    description:
      "Returns the matched markets whose YES prices on two venues differ, best score first, or with `kind` the sets of contracts of one event that cost less than they pay. The list is updated with every change of a price. Its sizes are those of the best prices; `/v1/arbitrage/live` reads the order books. A difference without a profit after fees has the score 0.",
    operationId: "list_arbitrage",
    query: schemas.listQuery,
    responses: { 200: schemas.ArbitrageList },
    async handler({ query }) {
      const { kind = "cross_venue" } = query;
      const hasScoring = query.expand?.includes("scoring") === true;
      if (kind !== "cross_venue") return presentSetList(await service.listSets(kind, readFilter(query)), hasScoring);
      return presentCrossVenueList(service.list(readFilter(query)), { hasScoring, isLive: false });
    },
  });

  defineRoute(app, {
    ...options,
    metering: { ...METERING.DEEP, settles: "before" },
    url: "/v1/arbitrage/live",
    summary: "Scan for arbitrage opportunities now",
    description:
      "Reads the order books of both markets of every candidate, the best ones first, for at most 10 seconds, and walks through them. A book that was read in the last 2 seconds is not read again. A market whose book could not be read has the quotes of the list and `refreshed: false`. `venues` shows which venues did not answer.",
    operationId: "scan_arbitrage",
    query: schemas.liveQuery,
    responses: { 200: schemas.ArbitrageList },
    handler: async ({ query }) =>
      presentCrossVenueList(await service.scan(readFilter(query)), {
        hasScoring: query.expand?.includes("scoring") === true,
        isLive: true,
      }),
  });
}
