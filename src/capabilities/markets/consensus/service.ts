import { isDeepStrictEqual } from "node:util";
import type { BoardMarket } from "../../../board/index.ts";
import { AppError, idempotencyKeyReused } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { MarketRef } from "../../../domain/market-name.ts";
import type { ConsensusView } from "../../../engine/index.ts";
import { toIso } from "../../../lib/dates/iso-time.ts";
import type { Database } from "../../../ports/database.ts";
import { lockCustomerRow } from "../../accounts/customers/index.ts";
import type { MarketDependencies } from "../ports.ts";
import {
  CONSENSUS_PERIOD_MS,
  type ConsensusPeriod,
  computeConsensus,
  divergenceSignal,
  isPlausible,
  type TradeReport,
} from "./model.ts";
import { countReport, insertReport, selectAgentReports, selectReportByKey, selectReportCount } from "./queries.ts";
import type { ConsensusResponse } from "./schema.ts";

type ConsensusDependencies = Pick<MarketDependencies, "database" | "board" | "clock" | "getMarket" | "estimateOf">;

export type ConsensusService = ReturnType<typeof createConsensusService>;

export function createConsensusService({ database, board, clock, getMarket, estimateOf }: ConsensusDependencies) {
  /** Also returns markets without a price, because trades in them can be reported. */
  const findMarket = async (venue: VenueId, marketId: string): Promise<BoardMarket> =>
    board.find(venue, marketId) ?? (await getMarket(venue, marketId));

  return {
    /**
     * Stores a report durably. A report with the same fields as an earlier report is not stored again, with or without
     * the idempotency key.
     *
     * @returns the number of reports of the market by all customers
     * @throws AppError `market_not_found`, or `unauthorized` if the customer was deleted; InvalidRequestError if the
     *   idempotency key belongs to a different report; VenueError
     */
    async report(customerId: string, report: TradeReport, idempotencyKey: string | null): Promise<number> {
      const market = await findMarket(report.venue, report.marketId);
      const options = { idempotencyKey, isPlausible: isPlausible(report, market), now: clock.now() };
      return database.transaction(async (transaction) => {
        if (!(await lockCustomerRow(transaction, customerId)))
          throw new AppError("unauthorized", "Invalid or expired API key");
        const earlier =
          idempotencyKey === null ? null : await selectReportByKey(transaction, customerId, idempotencyKey);
        if (earlier !== null && !isDeepStrictEqual({ ...earlier }, { ...report }))
          throw idempotencyKeyReused(idempotencyKey, "report");
        const isNew = earlier === null && (await insertReport(transaction, customerId, report, options));
        return isNew ? countReport(transaction, report) : selectReportCount(transaction, report);
      }, "request");
    },

    /** @throws AppError `market_not_found`; VenueError */
    async getConsensus(venue: VenueId, marketId: string, period: ConsensusPeriod): Promise<ConsensusResponse> {
      const market = await findMarket(venue, marketId);
      const now = clock.now();
      const periodMs = CONSENSUS_PERIOD_MS[period];
      const agents = await selectAgentReports(database, { venue, marketId }, { fromMs: now - periodMs, toMs: now });
      const consensus = computeConsensus(agents, periodMs);
      const estimate = estimateOf(board.find(venue, marketId) ?? market);
      const divergence =
        consensus.probability === null || estimate === null ? null : consensus.probability - estimate.probability;
      return {
        market_id: marketId,
        platform: venue,
        period,
        consensus_probability: consensus.probability,
        robust_probability: consensus.robustProbability,
        sample_size: consensus.trades,
        unique_agents: consensus.agents,
        model_probability: estimate?.probability ?? null,
        model_probability_at: estimate === null ? null : toIso(estimate.at),
        divergence,
        divergence_signal: divergenceSignal(divergence, consensus),
        yes_volume_usd: consensus.yesVolumeUsd,
        no_volume_usd: consensus.noVolumeUsd,
        yes_trade_count: consensus.yesTrades,
        no_trade_count: consensus.noTrades,
        generated_at: toIso(now),
      };
    },
  };
}

/** Period of the reports that the engine uses. */
const VIEW_PERIOD: ConsensusPeriod = "7d";

/**
 * Reads the robust consensus of the last seven days' reports; null with too few agents.
 *
 * @param asOf  Unix milliseconds; later reports are not read
 */
export async function readConsensus(
  database: Pick<Database, "query">,
  market: MarketRef,
  asOf: number,
): Promise<ConsensusView | null> {
  const periodMs = CONSENSUS_PERIOD_MS[VIEW_PERIOD];
  const reports = await selectAgentReports(database, market, { fromMs: asOf - periodMs, toMs: asOf });
  const { robustProbability, agents, trades } = computeConsensus(reports, periodMs);
  return robustProbability === null ? null : { at: asOf, probability: robustProbability, agents, trades };
}
