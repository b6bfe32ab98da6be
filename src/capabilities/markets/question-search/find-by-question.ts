import type { BoardMarket, MarketBoard, QuestionMatch } from "../../../board/index.ts";
import { AppError } from "../../../domain/errors.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef } from "../../../domain/market-name.ts";
import { fitQuestion, parseQuestion } from "../../../matching/index.ts";
import { ALSO_ON_CONFIDENCE_MIN } from "../matching/index.ts";
import type { MarketDependencies } from "../ports.ts";

/** Maximum number of markets compared with the text; the markets with the most common words are chosen. */
const COMPARED_MAX = 150;
/** Maximum distance from the best score at which another question also fits. */
const AMBIGUITY_MARGIN = 0.05;
const CANDIDATES_MAX = 10;
/** Maximum number of returned alternatives. */
const ALTERNATIVES_MAX = 3;
const ALTERNATIVE_SCORE_MIN = 0.25;
/** Scores are rounded to 1e-9, so that a difference of exactly the margin counts as within it despite rounding errors. */
const SCORE_STEPS = 1e9;

interface QuestionSearchDependencies extends Pick<MarketDependencies, "pairsOf"> {
  readonly board: Pick<MarketBoard, "findByQuestion" | "eventOf">;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The market that a text asks about, and the next best markets. */
export interface QuestionAnswer {
  readonly market: BoardMarket;
  /** Score of the market (`QuestionFit`), in (0, 1]. */
  readonly similarity: number;
  readonly alternatives: readonly QuestionMatch[];
}

interface Candidate extends QuestionMatch {
  readonly fits: boolean;
}

/**
 * Finds the open market that answers a question in free text. All words, months, years, numbers, directions and
 * negations of the text must be in the market. Of several markets that are matched as identical, the market with the
 * largest 24-hour volume is used.
 *
 * @param except  a market that is excluded from the search
 * @throws AppError `market_not_found`; `ambiguous_query` with the candidates if several questions fit with scores
 *   within 0.05
 */
export function findByQuestion(
  { board, pairsOf, now }: QuestionSearchDependencies,
  text: string,
  { venues, except = null }: { readonly venues: readonly VenueId[]; readonly except?: BoardMarket | null },
): QuestionAnswer {
  const question = parseQuestion(text, now);
  const found =
    question === null
      ? []
      : board
          .findByQuestion(question.searchText, { venues, status: "active", limit: COMPARED_MAX })
          .filter(({ market }) => market.row !== except?.row)
          .map(({ market }): Candidate => {
            const { score, fits } = fitQuestion(question, textsOf(market, board));
            return { market, similarity: Math.round(score * SCORE_STEPS) / SCORE_STEPS, fits };
          })
          .sort((a, b) => b.similarity - a.similarity || volumeOf(b.market) - volumeOf(a.market));
  const fitting = found.filter(({ fits }) => fits);
  const [best] = fitting;
  if (best === undefined) throw new AppError("market_not_found", `No open market matches "${text}"`);
  const min = Math.round((best.similarity - AMBIGUITY_MARGIN) * SCORE_STEPS) / SCORE_STEPS;
  const close = fitting.filter(({ similarity }) => similarity >= min);
  if (!close.every(({ market }) => isSameQuestion(best.market, market, pairsOf))) throw ambiguousQuery(text, close);
  const chosen = close.toSorted((a, b) => volumeOf(b.market) - volumeOf(a.market))[0] ?? best;
  const alternatives = found
    .filter(({ market, similarity }) => market.row !== chosen.market.row && similarity >= ALTERNATIVE_SCORE_MIN)
    .slice(0, ALTERNATIVES_MAX);
  return { market: chosen.market, similarity: chosen.similarity, alternatives };
}

const volumeOf = ({ activity }: BoardMarket): number => activity.volume24hUsd ?? 0;

function textsOf(market: BoardMarket, board: QuestionSearchDependencies["board"]) {
  const { title, outcomeLabel, closeAt, expectedResolutionAt } = market.listing;
  const eventTitle = board.eventOf(market)?.listing.title ?? null;
  return { title, outcomeLabel, eventTitle, closeAt, expectedResolutionAt };
}

function isSameQuestion(a: BoardMarket, b: BoardMarket, pairsOf: QuestionSearchDependencies["pairsOf"]): boolean {
  if (a.row === b.row) return true;
  const other = formatMarketRef(b.listing);
  return pairsOf(a.listing.venue, a.listing.marketId).some(
    (pair) =>
      pair.relation === "identical" &&
      pair.confidence >= ALSO_ON_CONFIDENCE_MIN &&
      (pair.a === other || pair.b === other),
  );
}

function ambiguousQuery(text: string, candidates: readonly Candidate[]): AppError {
  const shown = candidates.slice(0, CANDIDATES_MAX).map(({ market: { listing }, similarity }) => ({
    platform: listing.venue,
    market_id: listing.marketId,
    title: listing.title,
    score: similarity,
  }));
  const message = `Several open markets match "${text}". Add the words, month or number that tells them apart, or send market_id.`;
  return new AppError("ambiguous_query", message, { details: { body: { candidates: shown } } });
}
