/** A market in the index, its links, and the order of links. */
import type { Fingerprint } from "./fingerprint.ts";
import type { MirrorKeys } from "./mirrors.ts";
import { isSameQuestion, type MarketPair, type MatchRelation, type MatchSource } from "./model.ts";
import type { RulesFacts } from "./rules.ts";

/** From this probability, a link to the same question comes before a link to the opposite one. */
const IDENTICAL_PROBABILITY_MIN = 0.5;

export interface IndexedMarket extends MirrorKeys {
  readonly row: number;
  readonly id: string;
  readonly venue: number;
  readonly eventSlug: string | null;
  readonly fingerprint: Fingerprint;
  /**
   * Facts of the rules; undefined until they have been read, null without rules. After a change, the earlier facts are
   * used until the new rules arrive.
   */
  rules: RulesFacts | null | undefined;
  areRulesAsked: boolean;
  links: readonly Link[];
  /** Keys of the market's current pairs. */
  pairKeys: readonly string[];
}

/** A possible match with a market of another venue. `relation` is from the market with this link to `other`. */
export interface Link {
  readonly other: IndexedMarket;
  readonly relation: MatchRelation;
  readonly probability: number;
}

/** A pair that a market should have. */
export interface Choice {
  readonly other: IndexedMarket;
  readonly relation: MatchRelation;
  readonly confidence: number;
  readonly source: MatchSource;
}

export const REVERSED: Readonly<Record<MatchRelation, MatchRelation>> = {
  identical: "identical",
  inverse: "inverse",
  subset: "superset",
  superset: "subset",
  overlap: "overlap",
};

/** Shared by all markets without links or pairs, which are most. */
export const NO_LINKS: readonly Link[] = [];
export const NO_KEYS: readonly string[] = [];

export const keyOf = (a: string, b: string): string => (a < b ? `${a}\n${b}` : `${b}\n${a}`);

/** A link to the same question comes before a link to the opposite one, and both before other relations. */
const rankOf = ({ relation, probability }: Link): number =>
  relation === "identical" && probability >= IDENTICAL_PROBABILITY_MIN ? 2 : isSameQuestion({ relation }) ? 1 : 0;

export function isBetter(link: Link, other: Link | undefined): boolean {
  if (other === undefined) return true;
  if (rankOf(link) !== rankOf(other)) return rankOf(link) > rankOf(other);
  if (link.probability !== other.probability) return link.probability > other.probability;
  return link.other.id < other.other.id;
}

export function isSamePair(pair: MarketPair, choice: Choice, market: IndexedMarket): boolean {
  const relation = pair.a === market.id ? choice.relation : REVERSED[choice.relation];
  return pair.relation === relation && pair.confidence === choice.confidence && pair.source === choice.source;
}
