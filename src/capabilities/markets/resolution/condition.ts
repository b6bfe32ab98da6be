import type { Side } from "../../../domain/price.ts";
import type { TextSpan } from "../../../text/text-dates.ts";

/**
 * occurs: YES pays if something happens. persists: YES pays if something does not happen, or a state continues. null:
 * the wording is ambiguous.
 */
export type Polarity = "occurs" | "persists" | null;

/** The condition in the rules' sentence about when the market resolves YES (or NO), without "resolves YES". */
export interface ResolutionCondition {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly target: Side;
}

/** Wording of older rules. */
const QUESTION = /\b(?:market on|question of) (?:if|whether)\b/i;
const RESOLVES = /\bresolves?(?: \w+){0,2}? ["“'‘(]{0,2}(yes|no|up|down)\b/i;
/** A clause about a cancelled or postponed event, or an event without a result. */
const FALLBACK =
  /^\W{0,3}(?:if|in the event|should) (?:no\b|neither\b|there is no\b|for any reason|.{0,120}\b(?:cancel\w*|postpone\w*|delayed|rescheduled|abandoned|forfeit\w*|not (?:yet )?(?:been )?(?:announced|completed|declared|known|held|played|called|determined|released|published|occur|take place|happen)|(?:isn|hasn|doesn|does|aren)['’]?t\b.{0,40}\b(?:known|announced|occur|place|called|declared)))/i;
const OTHERWISE = /^\W{0,3}(?:otherwise|else)\b/i;

export function isFallbackClause(sentence: string): boolean {
  return (
    FALLBACK.test(sentence.trimStart().slice(0, 400)) && !/\bresolves?(?: \w+){0,2}? ["“'‘(]{0,2}yes\b/i.test(sentence)
  );
}

/** Finds the first sentence that states the condition of YES or NO, or null. */
export function findCondition(text: string, sentences: readonly TextSpan[]): ResolutionCondition | null {
  for (const { start, end } of sentences) {
    const sentence = text.slice(start, end);
    const question = QUESTION.exec(sentence);
    if (question !== null) {
      const from = start + question.index;
      return { start: from, end, text: text.slice(from, end), target: "yes" };
    }
    const resolves = RESOLVES.exec(sentence);
    if (resolves === null || OTHERWISE.test(sentence) || isFallbackClause(sentence)) continue;
    const target = /^(?:no|down)$/i.test(resolves[1] ?? "") ? "no" : "yes";
    const ifAfter = /\bif\b/i.exec(sentence.slice(resolves.index));
    const ifBefore = /\bif\b/i.exec(sentence.slice(0, resolves.index));
    if (ifAfter !== null) {
      const from = start + resolves.index + ifAfter.index;
      return { start: from, end, text: text.slice(from, end), target };
    }
    if (ifBefore !== null) {
      const from = start + ifBefore.index;
      const to = start + resolves.index;
      return { start: from, end: to, text: text.slice(from, to), target };
    }
  }
  return null;
}

/** Remarks inside a condition: "(…)", ", that is not …,", "including but not limited to …", "whether or not". */
const REMARKS =
  /\([^()]{0,300}\)|, (?:that|which|who|where|not including|excluding|other than|regardless)[^,]{0,200}(?=,|$)|\b(?:including,?|but) (?:but )?not limited to\b|\bwhether or not\b|\b(?:or|and) not\b[^,]{0,40}(?=,|$)/gi;
const REPORTED_NEGATION =
  /\b(?:announc|confirm|declar|stat|report|say|said|rul|agree|pledg|promis)\w*\b.{0,60}\b(?:not|never|no|\w+n['’]t)\b/i;
const NEGATION =
  /\b(?:do|does|did|is|are|was|were|be|been|has|have|had|will|would|can|could|shall)(?:\s\w+)? not\b|\b\w+n['’]t\b|\bcannot\b|\bnever\b|\bnot (?:be|have|happen|occur|resign|leave|\w+ed)\b|\bno (?!longer\b|later\b|less\b|more\b|fewer\b|earlier\b|one else\b|matter\b|confidence\b|\d)\w+|\b(?:nothing|nobody|none of)\b/i;
/** Words for a continuing state. Without "closes" and "keeps": "the index closes above …" is an observation. */
const CONTINUATION =
  /\b(?:remains?|remaining|avoids?|stays?|still|survives?|retains?|persists?|continues? to|continues? (?:as|in)|keeps? (?:his|her|their|its|the)|(?:lasts?|holds?) (?:until|through|past|beyond))\b/i;

/**
 * Ambiguous negations: "without a recession" negates, "without practice" does not; "a member who was not elected"
 * describes the member.
 */
const UNCLEAR = /\bwithout\b|\b(?:who|that|which) (?:\w+ ){0,3}(?:not|never)\b/i;

/** Returns whether a clause is about something that happens or does not happen; null if it is ambiguous. */
function polarityOfClause(clause: string): Polarity {
  const bare = clause.replace(REMARKS, " ");
  if (REPORTED_NEGATION.test(bare) || UNCLEAR.test(bare)) return null;
  const isNegated = NEGATION.test(bare);
  const isContinued = CONTINUATION.test(bare);
  // "does not remain" would be an event; such wording is too rare to trust.
  if (isNegated && isContinued) return null;
  return isNegated || isContinued ? "persists" : "occurs";
}

function opposite(polarity: Polarity): Polarity {
  if (polarity === null) return null;
  return polarity === "occurs" ? "persists" : "occurs";
}

/**
 * Returns the condition for which YES pays. Null if the title and the rules disagree.
 *
 * @param condition  the condition of the rules; null if the rules have none, so that only the title decides
 * @param clauseEnd  end of the part of the condition that is read; later clauses are definitions
 */
export function polarityOf(title: string, condition: ResolutionCondition | null, clauseEnd: number): Polarity {
  const ofTitle = polarityOfClause(title);
  if (condition === null) return ofTitle;
  const ofCondition = polarityOfClause(condition.text.slice(0, Math.max(0, clauseEnd - condition.start)));
  const ofRules = condition.target === "no" ? opposite(ofCondition) : ofCondition;
  return ofRules === ofTitle ? ofRules : null;
}
