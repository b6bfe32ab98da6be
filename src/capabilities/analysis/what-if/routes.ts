import type { FastifyInstance } from "fastify";
import { InvalidRequestError, type ValidationItem } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { missing } from "../../../http/validation/index.ts";
import { presentWhatIf } from "./present.ts";
import { createWhatIfSchemas } from "./schema.ts";
import type { WhatIfRequest, WhatIfService } from "./service.ts";

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
    query: schemas.query,
    body: schemas.body,
    bodyOptional: true,
    responses: { 200: schemas.WhatIf },
    errors: ["market_not_found", "ambiguous_query", "store_unavailable"],
    async handler({ query, body = {} }) {
      return presentWhatIf(await service.answer(readRequest({ ...query, ...body }, body)));
    },
  });
}

interface Inputs {
  readonly market_query?: string;
  readonly hypothesis?: string;
  readonly platform?: string;
}

/**
 * @param inputs  those of the query string and the body
 * @throws InvalidRequestError if a text is missing
 */
function readRequest({ market_query: question, hypothesis, platform: venue }: Inputs, body: object): WhatIfRequest {
  if (question !== undefined && hypothesis !== undefined) return { question, hypothesis, venue: venue ?? null };
  const errors: ValidationItem[] = [];
  if (question === undefined) errors.push(missing(["body", "market_query"], body));
  if (hypothesis === undefined) errors.push(missing(["body", "hypothesis"], body));
  throw new InvalidRequestError(errors);
}
