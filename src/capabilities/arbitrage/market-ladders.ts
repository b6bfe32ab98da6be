import type { BoardMarket } from "../../board/index.ts";
import { findLadders, type ParsedQuestion, parseQuestion, skeletonOf } from "./ladder.ts";

/** Longer rules are not compared. */
const RULES_LENGTH_MAX = 5_000;

/**
 * Finds the ladders among the markets of one event: the same question and rules with different thresholds or deadlines.
 * Each ladder goes from the widest market to the narrowest, and each market implies the one before.
 */
export function findMarketLadders(markets: readonly BoardMarket[]): BoardMarket[][] {
  return findLadders(markets.map(questionOf))
    .map((indexes) => {
      const rungs = indexes.flatMap((index) => markets[index] ?? []);
      const [widest] = rungs;
      return widest === undefined ? [] : rungs.filter((market) => haveSameRules(widest, market));
    })
    .filter((rungs) => rungs.length > 1);
}

/** Parsed questions. A listing is immutable, and a market keeps its listing while only its quotes change. */
const parsedQuestions = new WeakMap<BoardMarket["listing"], { readonly question: ParsedQuestion | null }>();

/** The question of a market, taken apart; null if it contains no number or date. */
export function questionOf({ listing }: BoardMarket): ParsedQuestion | null {
  const parsed = parsedQuestions.get(listing);
  if (parsed !== undefined) return parsed.question;
  const { title, outcomeLabel } = listing;
  const text = outcomeLabel === null || title.includes(outcomeLabel) ? title : `${title} — ${outcomeLabel}`;
  const question = parseQuestion(text);
  parsedQuestions.set(listing, { question });
  return question;
}

/** Whether the rules of two markets differ at most in numbers and dates. Rules of which only one is known do not. */
export function haveSameRules({ listing: a }: BoardMarket, { listing: b }: BoardMarket): boolean {
  if (a.rules === null || b.rules === null) return a.rules === b.rules;
  if (Math.max(a.rules.length, b.rules.length) > RULES_LENGTH_MAX) return false;
  return skeletonOf(a.rules) === skeletonOf(b.rules);
}
