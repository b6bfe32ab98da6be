import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { MarketPair } from "../../../matching/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import { findByQuestion } from "../../markets/question-search/index.ts";
import { conditionOn, findLogicalRelation } from "../../markets/relations/index.ts";
import type { MeasuredCorrelation, Side, WhatIf } from "./model.ts";

export interface WhatIfPorts {
  readonly board: Pick<MarketBoard, "findByQuestion" | "findEvent" | "marketsOfEvent">;
  readonly clock: Pick<Clock, "now">;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  /** Our latest estimate of the probability of YES; null if there is none. */
  readonly probabilityOf: (market: BoardMarket) => number | null;
  readonly pairsOf: (venue: VenueId, marketId: string) => readonly MarketPair[];
  /** Correlation of the log-odds moves of 30 days. Rejects as the correlation endpoint does. */
  readonly correlate: (a: BoardMarket, b: BoardMarket) => Promise<MeasuredCorrelation>;
}

export interface WhatIfRequest {
  readonly question: string;
  readonly hypothesis: string;
  /** Venue of the question's market; null for any. The hypothesis may be of any venue. */
  readonly venue: VenueId | null;
}

export type WhatIfService = ReturnType<typeof createWhatIfService>;

/** Answers how the probability of one market changes if another one resolves YES. */
export function createWhatIfService(ports: WhatIfPorts) {
  const { board } = ports;

  const findMarket = (text: string, venues: readonly VenueId[], except: BoardMarket | null) =>
    findByQuestion({ board, pairsOf: ports.pairsOf, now: ports.clock.now() }, text, { venues, except });

  const sideOf = (market: BoardMarket): Side => {
    const estimated = ports.probabilityOf(market);
    if (estimated !== null) return { market, probability: estimated, source: "model" };
    return { market, probability: market.yesPrice ?? 0, source: "price" };
  };

  return {
    /**
     * Finds the markets that the question and the hypothesis ask about, and how one depends on the other.
     *
     * @throws AppError `market_not_found` and `ambiguous_query`, which quote the text, and `store_unavailable`
     */
    async answer({ question: questionText, hypothesis: hypothesisText, venue }: WhatIfRequest): Promise<WhatIf> {
      const question = findMarket(questionText, venue === null ? ports.venues : [venue], null);
      const hypothesis = findMarket(hypothesisText, ports.venues, question.market);
      const [p, q] = [sideOf(question.market), sideOf(hypothesis.market)];
      const logical = findLogicalRelation(question.market, hypothesis.market, ports);
      const measured = logical === null ? await ports.correlate(question.market, hypothesis.market) : null;
      const correlation = measured?.correlation ?? null;
      const { ifYes, ifNo } = conditionOn({ dependence: logical, correlation }, p.probability, q.probability);
      const dependence = logical ?? (correlation === null ? "unknown" : "correlation");
      return {
        question: p,
        hypothesis: q,
        similarity: { question: question.similarity, hypothesis: hypothesis.similarity },
        dependence,
        correlation,
        dataPoints: measured?.dataPoints ?? null,
        ifTrue: ifYes,
        ifFalse: ifNo,
        generatedAt: ports.clock.now(),
      };
    },
  };
}
