import { isDeepStrictEqual } from "node:util";
import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { AppError, idempotencyKeyReused } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { ConsensusView } from "../../../engine/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Database } from "../../../ports/database.ts";
import { lockCustomerRow } from "../../accounts/customers/index.ts";
import {
  CONSENSUS_PERIOD_MS,
  type Consensus,
  type ConsensusPeriod,
  computeConsensus,
  isPlausible,
  type TradeReport,
} from "./model.ts";
import { countReport, insertReport, selectAgentReports, selectReportByKey, selectReportCount } from "./queries.ts";

export interface ConsensusPorts {
  readonly database: Database;
  readonly board: MarketBoard;
  readonly clock: Clock;
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
  /** Our estimate of a market at its current price; null if there is none. */
  readonly estimateOf: (market: BoardMarket) => ModelEstimate | null;
}

/** A probability of YES in [0, 1], and its time in Unix milliseconds. */
export interface ModelEstimate {
  readonly probability: number;
  readonly at: number;
}

/** The consensus of a market beside our own estimate. */
export interface MarketConsensus {
  readonly consensus: Consensus;
  /** Our own estimate; null if there is none. */
  readonly estimate: ModelEstimate | null;
  /** Unix milliseconds. */
  readonly generatedAt: number;
}

export type ConsensusService = ReturnType<typeof createConsensusService>;

/** Stores reported trades and computes the consensus of a market from them. */
export function createConsensusService({ database, board, clock, getMarket, estimateOf }: ConsensusPorts) {
  /** Markets without a price are returned too: their trades may be reported. */
  const findMarket = async (venue: VenueId, marketId: string): Promise<BoardMarket> =>
    board.find(venue, marketId) ?? (await getMarket(venue, marketId));

  return {
    /**
     * Stores a report, which is durable when this resolves. A report with the fields of an earlier one, or with the
     * idempotency key of an earlier equal one, is not stored again.
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
    async getConsensus(venue: VenueId, marketId: string, period: ConsensusPeriod): Promise<MarketConsensus> {
      const market = await findMarket(venue, marketId);
      const now = clock.now();
      const periodMs = CONSENSUS_PERIOD_MS[period];
      const agents = await selectAgentReports(database, { venue, marketId }, { fromMs: now - periodMs, toMs: now });
      return {
        consensus: computeConsensus(agents, periodMs),
        estimate: estimateOf(board.find(venue, marketId) ?? market),
        generatedAt: now,
      };
    },
  };
}

/** Reports of this period are part of the engine's view of a market. */
const VIEW_PERIOD: ConsensusPeriod = "7d";

/**
 * Reads the robust consensus of the reports of seven days; null with too few agents.
 *
 * @param asOf  Unix milliseconds; later reports are not read
 */
export async function readConsensus(
  database: Pick<Database, "query">,
  market: { readonly venue: VenueId; readonly marketId: string },
  asOf: number,
): Promise<ConsensusView | null> {
  const periodMs = CONSENSUS_PERIOD_MS[VIEW_PERIOD];
  const reports = await selectAgentReports(database, market, { fromMs: asOf - periodMs, toMs: asOf });
  const { robustProbability, agents, trades } = computeConsensus(reports, periodMs);
  return robustProbability === null ? null : { at: asOf, probability: robustProbability, agents, trades };
}
