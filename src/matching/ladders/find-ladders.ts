/** Finds ladders: markets whose questions differ only in a threshold or deadline. */
import type { MarketListing } from "../../domain/market.ts";
import { cacheByObject } from "../../lib/cache-by-object.ts";
import { hashText } from "../../lib/text-hash.ts";
import { type ParsedQuestion, parseMarketQuestion, type QuestionSlot, skeletonOf } from "./parse-question.ts";

/** Maximum length of compared rules, in characters. */
const RULES_LENGTH_MAX = 5_000;

interface Rung {
  readonly index: number;
  readonly slots: readonly QuestionSlot[];
}

/**
 * Finds the ladders among markets: the same question and rules with different thresholds or deadlines. A ladder is
 * sorted from the widest market to the narrowest: YES of a market implies YES of the previous one. Its markets may
 * belong to different events of one venue. An ambiguous market is not part of any ladder.
 */
export function findMarketLadders<Market extends { readonly listing: MarketListing }>(
  markets: readonly Market[],
): Market[][] {
  return findLadders(markets.map(({ listing }) => questionOf(listing))).flatMap((ladder) => {
    const rungs = ladder.flatMap((index) => markets[index] ?? []);
    return groupsOf(rungs, ({ listing }) => rulesTextOf(listing)).filter((group) => group.length > 1);
  });
}

/**
 * Groups questions into ladders: questions with the same text except for one number with the same comparison, or except
 * for the date after the same "by" or "before".
 *
 * @param questions  null for a question that could not be parsed
 * @returns  indexes of the questions of each ladder, from the widest question to the narrowest
 */
export function findLadders(questions: readonly (ParsedQuestion | null)[]): number[][] {
  const rungs = questions.flatMap((question, index) =>
    question === null || question.slots.length === 0 ? [] : [{ index, ...question }],
  );
  return groupsOf(rungs, ({ skeleton, slots }) => `${skeleton}\n${slots.length}`)
    .filter((group) => group.length > 1)
    .flatMap(findInGroup);
}

/** Finds the ladders among questions with the same text: questions that differ in exactly one number or date. */
function findInGroup(group: readonly Rung[]): number[][] {
  const rungs = mergeRepetitions(group);
  const positions = rungs[0]?.slots.keys().toArray() ?? [];
  return positions.flatMap((position) => {
    const compared = rungs.filter(({ slots }) => (slots[position]?.wider ?? null) !== null);
    const keyOf = ({ slots }: Rung) =>
      slots.map(({ value, wider }, index) => (index === position ? wider : value)).join(" ");
    return groupsOf(compared, keyOf).flatMap((ladder) => sortRungs(ladder, position));
  });
}

/** Sorts a ladder from the widest rung to the narrowest, without rungs of equal value. */
function sortRungs(ladder: readonly Rung[], position: number): number[][] {
  const valueAt = ({ slots }: Rung) => slots[position]?.value ?? 0;
  const sign = ladder[0]?.slots[position]?.wider === "smaller" ? 1 : -1;
  const distinct = ladder.filter((rung) => ladder.filter((other) => valueAt(other) === valueAt(rung)).length === 1);
  if (distinct.length < 2) return [];
  return [distinct.sort((a, b) => sign * (valueAt(a) - valueAt(b))).map(({ index }) => index)];
}

/** Merges numbers that are equal in each rung: a title and its outcome often name the same threshold. */
function mergeRepetitions(group: readonly Rung[]): Rung[] {
  const count = group[0]?.slots.length ?? 0;
  const firstOf = Array.from({ length: count }, (_, slot) => {
    for (let first = 0; first < slot; first++)
      if (group.every(({ slots }) => slots[first]?.value === slots[slot]?.value)) return first;
    return slot;
  });
  return group.map(({ index, slots }) => ({
    index,
    slots: slots.flatMap(({ value }, slot) => {
      if (firstOf[slot] !== slot) return [];
      const directions = new Set(slots.flatMap(({ wider }, other) => (firstOf[other] === slot ? (wider ?? []) : [])));
      const [wider = null] = directions;
      return [{ value, wider: directions.size === 1 ? wider : null }];
    }),
  }));
}

const groupsOf = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] => [
  ...Map.groupBy(items, keyOf).values(),
];

// The results are cached: a listing is immutable, and a market keeps its listing while only its quotes change.

/** Returns the parsed question of a market, with its venue; null if title or rules are too long. */
const questionOf = cacheByObject((listing: MarketListing): ParsedQuestion | null => {
  const { venue, title, outcomeLabel, rules } = listing;
  if ((rules?.length ?? 0) > RULES_LENGTH_MAX) return null;
  const isNamed = outcomeLabel === null || title.toLowerCase().includes(outcomeLabel.toLowerCase());
  const text = isNamed ? title : `${title} — ${outcomeLabel}`;
  const question = parseMarketQuestion(text, { closeAt: closeOf(listing), rules });
  return question === null ? null : { ...question, skeleton: `${venue}\n${question.skeleton}` };
});

/** Returns a hash that is equal for rules that differ in numbers and dates only; empty without rules. */
const rulesTextOf = cacheByObject((listing: MarketListing): string =>
  listing.rules === null ? "" : hashText(skeletonOf(listing.rules, closeOf(listing))),
);

const closeOf = ({ closeAt, expectedResolutionAt }: MarketListing): number | null => closeAt ?? expectedResolutionAt;
