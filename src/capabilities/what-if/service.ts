import { type BoardMarket, eventSlug, type MarketBoard, type QuestionMatch } from "../../board/index.ts";
import { AppError } from "../../domain/errors.ts";
import type { VenueId } from "../../domain/market.ts";
import type { MarketPair } from "../../matching/index.ts";
import type { Clock } from "../../ports/clock.ts";
import { findMarketLadders } from "../arbitrage/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";
import { condition, type Dependence, type MeasuredCorrelation, type Side, type WhatIf } from "./model.ts";

/** A market that is less similar to a text is no answer to it. */
const SIMILARITY_MIN = 0.3;

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

  const findMarket = (text: string, venues: readonly VenueId[], except: BoardMarket | null): QuestionMatch => {
    const matches = board.findByQuestion(text, { venues, status: "active", limit: 2 });
    const match = matches.find(({ market }) => market.row !== except?.row);
    if (match === undefined || match.similarity < SIMILARITY_MIN)
      throw new AppError("market_not_found", `No open market matches "${text}"`);
    return match;
  };

  const sideOf = (market: BoardMarket): Side => {
    const estimated = ports.probabilityOf(market);
    if (estimated !== null) return { market, probability: estimated, source: "model" };
    return { market, probability: market.yesPrice ?? 0, source: "price" };
  };

  /** The dependence that follows from the questions themselves; null if none is known. */
  const findLogicalDependence = (question: BoardMarket, hypothesis: BoardMarket): Dependence | null =>
    findPairDependence(question, hypothesis, ports.pairsOf) ?? findEventDependence(question, hypothesis, board);

  return {
    /**
     * Finds the markets that the question and the hypothesis ask about, and how one depends on the other.
     *
     * @throws AppError `market_not_found` that quotes the text without a match, `store_unavailable`
     */
    async answer({ question: questionText, hypothesis: hypothesisText, venue }: WhatIfRequest): Promise<WhatIf> {
      const question = findMarket(questionText, venue === null ? ports.venues : [venue], null);
      const hypothesis = findMarket(hypothesisText, ports.venues, question.market);
      const [p, q] = [sideOf(question.market), sideOf(hypothesis.market)];
      const logical = findLogicalDependence(question.market, hypothesis.market);
      const measured = logical === null ? await ports.correlate(question.market, hypothesis.market) : null;
      const correlation = measured?.correlation ?? null;
      const dependence = logical ?? (correlation === null ? "unknown" : "correlation");
      return {
        question: p,
        hypothesis: q,
        similarity: { question: question.similarity, hypothesis: hypothesis.similarity },
        dependence,
        correlation,
        dataPoints: measured?.dataPoints ?? null,
        ...condition(dependence, p.probability, q.probability, correlation),
        generatedAt: ports.clock.now(),
      };
    },
  };
}

const idOf = ({ listing: { venue, marketId } }: BoardMarket): string => `${venue}/${marketId}`;

/** By the relation that matching found between markets of two venues, if it is as certain as it must be to be shown as a fact. */
function findPairDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  pairsOf: WhatIfPorts["pairsOf"],
): Dependence | null {
  const { venue, marketId } = question.listing;
  const pair = pairsOf(venue, marketId).find(({ a, b }) => [a, b].includes(idOf(hypothesis)));
  if (pair === undefined || pair.confidence < ALSO_ON_CONFIDENCE_MIN) return null;
  const isForward = pair.a === idOf(question);
  switch (pair.relation) {
    case "identical":
      return "same";
    case "inverse":
      return "opposite";
    case "subset":
      return isForward ? "implied" : "implies";
    case "superset":
      return isForward ? "implies" : "implied";
    default:
      return null;
  }
}

/** By the event that both markets belong to. */
function findEventDependence(
  question: BoardMarket,
  hypothesis: BoardMarket,
  board: Pick<MarketBoard, "findEvent" | "marketsOfEvent">,
): Dependence | null {
  const { venue, eventId } = question.listing;
  if (eventId === null || venue !== hypothesis.listing.venue || eventId !== hypothesis.listing.eventId) return null;
  const slug = eventSlug(venue, eventId);
  if (board.findEvent(slug)?.listing.mutuallyExclusive === true) return "exclusive";
  const rankIn = (ladder: readonly BoardMarket[], market: BoardMarket) =>
    ladder.findIndex(({ row }) => row === market.row);
  for (const ladder of findMarketLadders(board.marketsOfEvent(slug))) {
    const [own, other] = [rankIn(ladder, question), rankIn(ladder, hypothesis)];
    // A ladder goes from the widest market to the narrowest, and each market implies the one before.
    if (own !== -1 && other !== -1) return own < other ? "implies" : "implied";
  }
  return null;
}
