import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { MarketPair } from "../../../matching/index.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { CorrelationService } from "../../markets/correlation/index.ts";
import { findByQuestion } from "../../markets/question-search/index.ts";
import { conditionalProbabilities, findLogicalRelation } from "../../markets/relations/index.ts";
import type { Analyses } from "../analyses/index.ts";
import type { Dependence, MarketProbability } from "./model.ts";

export interface WhatIfPorts {
  readonly board: Pick<MarketBoard, "findByQuestion" | "eventOf" | "findEvent" | "marketsOfEvent">;
  readonly clock: Pick<Clock, "now">;
  /** Ids of the venues that clients can query. */
  readonly venues: readonly VenueId[];
  readonly probabilityOf: Analyses["probabilityOf"];
  readonly pairsOf: (venue: VenueId, marketId: string) => readonly MarketPair[];
  /** Correlation of the log-odds changes of 30 days. Rejects in the same cases as the correlation endpoint. */
  readonly correlate: CorrelationService["correlatePair"];
}

export interface WhatIfRequest {
  readonly question: string;
  readonly hypothesis: string;
  /** Venue of the question's market; null for any. The hypothesis may be of any venue. */
  readonly venue: VenueId | null;
}

export type WhatIfService = ReturnType<typeof createWhatIfService>;
export type WhatIf = Awaited<ReturnType<WhatIfService["answer"]>>;

/** Computes the conditional probabilities of one market, given the outcome of another. */
export function createWhatIfService(ports: WhatIfPorts) {
  const { board } = ports;

  const findMarket = (text: string, venues: readonly VenueId[], except: BoardMarket | null) =>
    findByQuestion({ board, pairsOf: ports.pairsOf, now: ports.clock.now() }, text, { venues, except });

  const sideOf = (market: BoardMarket): MarketProbability => {
    const estimated = ports.probabilityOf(market);
    if (estimated !== null) return { market, probability: estimated, source: "model" };
    return { market, probability: market.yesPrice ?? 0, source: "price" };
  };

  return {
    /**
     * Finds the markets of the question and the hypothesis, and the conditional probabilities of the question.
     *
     * @throws AppError `market_not_found` and `ambiguous_query`, which quote the text, and `store_unavailable`
     */
    async answer({ question: questionText, hypothesis: hypothesisText, venue }: WhatIfRequest) {
      const question = findMarket(questionText, venue === null ? ports.venues : [venue], null);
      const hypothesis = findMarket(hypothesisText, ports.venues, question.market);
      const [p, q] = [sideOf(question.market), sideOf(hypothesis.market)];
      const logical = findLogicalRelation(question.market, hypothesis.market, ports);
      const measured = logical === null ? await ports.correlate(question.market, hypothesis.market) : null;
      const correlation = measured?.correlation ?? null;
      const { ifYes, ifNo } = conditionalProbabilities(
        { dependence: logical, correlation },
        p.probability,
        q.probability,
      );
      const dependence: Dependence = logical ?? (correlation === null ? "unknown" : "correlation");
      return {
        question: p,
        hypothesis: q,
        /** Word similarity of the text and the chosen market, in (0, 1]. */
        similarity: { question: question.similarity, hypothesis: hypothesis.similarity },
        dependence,
        correlation,
        dataPoints: measured?.dataPoints ?? null,
        /** Probability of the question if the hypothesis is true, and if it is false; null if unknown. */
        ifTrue: ifYes,
        ifFalse: ifNo,
        /** Unix milliseconds. */
        generatedAt: ports.clock.now(),
      };
    },
  };
}
