import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BoardMarket } from "../../../board/index.ts";
import { METERING } from "../../../domain/metering.ts";
import { defineRoute } from "../../../http/route.ts";
import type { VenueIds } from "../../../http/schema-types.ts";
import { presentRunning } from "../../analysis/analyses/index.ts";
import type { RelatedMarket } from "../../markets/relations/index.ts";
import { describeHedge } from "./hedge.ts";
import type { RunningAnalysis, SignalRequest } from "./model.ts";
import { presentSignal } from "./present.ts";
import { createSignalSchemas, readSizing } from "./schema.ts";
import type { SignalsService } from "./service.ts";

/** Payments are settled before the handler runs, because the call may wait for its analysis. */
export const SIGNAL_METERING = { ...METERING.SIGNAL, settles: "before" } as const;

/**
 * Responds with the running analysis that a signal requires. The call is not counted, because the later call that
 * returns the signal is. Two kinds of calls are still counted: a forced analysis, which is costly, and a
 * pay-per-request call that does not wait, whose payment covers the analysis.
 */
export function respondRunning(
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { isForced, waits }: Pick<SignalRequest, "isForced" | "waits">,
  { analysisId, market: { listing }, estimatedSeconds }: RunningAnalysis,
) {
  request.isDeferred = !isForced && (waits || request.principal?.kind !== "payer");
  reply.code(202);
  return presentRunning({ analysisId, venue: listing.venue, marketId: listing.marketId }, estimatedSeconds);
}

/** Errors of all routes that require a market and its analysis. */
export const SIGNAL_ERRORS = [
  "market_not_found",
  "ambiguous_query",
  "analysis_failed",
  "venue_unavailable",
  "store_unavailable",
  "overloaded",
] as const;

interface SignalRoutesOptions {
  readonly service: SignalsService;
  readonly venues: VenueIds;
  /** Finds liquid markets that are related to a market. Throws AppError `store_unavailable`. */
  readonly findRelatedMarkets: (market: BoardMarket) => Promise<readonly RelatedMarket[]>;
  /** Estimated probability of YES, else the price; null if unknown. */
  readonly probabilityOf: (market: BoardMarket) => number | null;
}

export function signalRoutes(app: FastifyInstance, options: SignalRoutesOptions): void {
  const { service, venues, findRelatedMarkets, probabilityOf } = options;
  const schemas = createSignalSchemas(venues);
  app.addHook("preClose", (done) => {
    service.stop();
    done();
  });
  defineRoute(app, {
    access: "key",
    tag: "Strategy",
    metering: SIGNAL_METERING,
    method: "POST",
    url: "/v1/signals",
    summary: "Generate a signal",
    description:
      "Returns what to buy in a market: side, highest price, size and expiry. A `fresh` or `stale` analysis of the market is used. If there is none, the call starts one. It then returns 202 with the status of the analysis, or with `wait=true` it waits for the analysis and returns the signal. A 202 response is not counted, unless `force` is set or the request is paid for and has no `wait`. Every trade that is recommended for a bankroll of $1,000 becomes part of the public track record, whatever your bankroll is.",
    operationId: "generate_signal",
    query: schemas.query,
    body: schemas.body,
    responses: { 200: schemas.Signal, 202: schemas.AnalysisStatus },
    errors: SIGNAL_ERRORS,
    async handler({ query, body, principal, request, reply }) {
      const options = { isForced: body.force === true, waits: query.wait === true };
      const result = await service.generate({
        customerId: principal.customerId,
        venue: body.platform ?? null,
        marketId: body.market_id ?? null,
        question: body.market_query ?? null,
        ...options,
        signal: disconnectSignal(reply),
        sizing: readSizing(body),
      });
      if (result.kind === "running") return respondRunning({ request, reply }, options, result.run);
      const { market, signal } = result.signal;
      const related = signal.recommendation === "NO_TRADE" ? [] : await findRelatedMarkets(market);
      return presentSignal(result.signal, {
        hedge: describeHedge(signal, related, probabilityOf),
        expandsCausal: query.expand?.includes("causal") === true,
      });
    },
  });
}

/** Returns a signal that aborts if the caller disconnects before the response is sent, or has already disconnected. */
export function disconnectSignal({ raw }: Pick<FastifyReply, "raw">): AbortSignal {
  const disconnected = new AbortController();
  if (raw.destroyed) disconnected.abort();
  else raw.once("close", () => disconnected.abort());
  return disconnected.signal;
}
