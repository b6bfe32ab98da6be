import type { FastifyInstance } from "fastify";
import { InvalidRequestError, type ValidationItem } from "../../../domain/errors.ts";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import { missing } from "../../../http/validation/index.ts";
import { presentWhatIf } from "./present.ts";
import { createWhatIfSchemas } from "./schema.ts";
import type { WhatIfRequest, WhatIfService } from "./service.ts";

/** POST /v1/what-if. @param venues  ids of the venues that clients can query */
export function whatIfRoutes(app: FastifyInstance, service: WhatIfService, venues: readonly string[]): void {
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
      return presentWhatIf(await service.answer(parseRequest({ ...query, ...body }, body)));
    },
  });
}

/**
 * @param inputs  of the query string and the body
 * @throws InvalidRequestError if a text is missing
 */
function parseRequest(
  {
    market_query: question,
    hypothesis,
    platform: venue,
  }: Partial<Record<"market_query" | "hypothesis" | "platform", string>>,
  body: object,
): WhatIfRequest {
  if (question !== undefined && hypothesis !== undefined) return { question, hypothesis, venue: venue ?? null };
  const errors: ValidationItem[] = [];
  if (question === undefined) errors.push(missing(["body", "market_query"], body));
  if (hypothesis === undefined) errors.push(missing(["body", "hypothesis"], body));
  throw new InvalidRequestError(errors);
}
