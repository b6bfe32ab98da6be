import type { BoardMarket } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { AreaPorts, Pipeline } from "../../area-ports.ts";
import type { MarketViews } from "./market-views.ts";
import type { EndedRun, ResearchRunner } from "./model.ts";
import type { QueueLimits } from "./run-queries.ts";

/** Dependencies of the analyses. Each part picks those that it uses. */
export interface AnalysesPorts extends Omit<AreaPorts, "venues">, Pick<Pipeline, "board" | "eventLog"> {
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Returns a market, or fetches it from its venue. Throws AppError `market_not_found`. */
  readonly getMarket: (venue: VenueId, marketId: string) => Promise<BoardMarket>;
  readonly views: MarketViews;
  /** Null if no language model is configured; all analyses are then light. */
  readonly researchRunner: ResearchRunner | null;
  /** Whether this node runs analyses. Other nodes only queue and read them. */
  readonly isWorker: boolean;
  /** Whether the service also analyses the most traded markets without a request. */
  readonly hasScheduledAnalyses: boolean;
  /** Number of concurrent runs on this node, 1 to 8; 4 by default. */
  readonly concurrency?: number;
  readonly limits?: QueueLimits;
  /** Called with each run that this node has ended. Must not throw. */
  readonly onRunEnded?: (run: EndedRun) => void;
}
