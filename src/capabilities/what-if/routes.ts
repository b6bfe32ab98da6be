import type { FastifyInstance } from "fastify";
import { METERING } from "../../domain/metering.ts";
import { defineRoute } from "../../http/route.ts";
import { presentWhatIf } from "./present.ts";
import { createWhatIfSchemas } from "./schema.ts";
import type { WhatIfService } from "./service.ts";

export interface WhatIfRoutesOptions {
  readonly service: WhatIfService;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly string[];
}

/** POST /v1/what-if. */
export function whatIfRoutes(app: FastifyInstance, { service, venues }: WhatIfRoutesOptions): void {
  const schemas = createWhatIfSchemas(venues);
  defineRoute(app, {
    access: "key",
    tag: "Strategy",
    metering: METERING.STRATEGY,
    method: "POST",
    url: "/v1/what-if",
    summary: "Ask what follows from a hypothesis",
    description:
      "Returns the probability of one market if another one resolves YES, and if it resolves NO. The dependence follows from the questions if possible (the same question, outcomes of one event, thresholds, deadlines). Otherwise it is measured from price moves.",
    operationId: "ask_what_if",
    body: schemas.body,
    responses: { 200: schemas.WhatIf },
    errors: ["market_not_found", "ambiguous_query", "store_unavailable"],
    async handler({ body: { market_query: question, hypothesis, platform: venue = null } }) {
      return presentWhatIf(await service.answer({ question, hypothesis, venue }));
    },
  });
}
