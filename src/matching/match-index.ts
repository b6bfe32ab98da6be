import { logit, sigmoid } from "../lib/numbers.ts";
import { CandidateIndex } from "./candidate-index.ts";
import { calibrateForBoard, decideMarkets } from "./decide.ts";
import { EventSupports } from "./event-supports.ts";
import { describeMatch } from "./evidence.ts";
import { compareMarkets, hasEarlyVeto } from "./features.ts";
import { createFingerprint } from "./fingerprint.ts";
import {
  type Choice,
  type IndexedMarket,
  isBetter,
  isSamePair,
  keyOf,
  type Link,
  NO_KEYS,
  NO_LINKS,
  REVERSED,
} from "./indexed-market.ts";
import { Interner, internFingerprint } from "./intern.ts";
import { Judgements } from "./judgements.ts";
import { EventMatcher } from "./match-events.ts";
import { areMirrors, Mirrors, mirrorKeysOf } from "./mirrors.ts";
import {
  isSameQuestion,
  type MarketPair,
  type MatchableMarket,
  type MatchJudgement,
  type MatchOverride,
  type MatchRelation,
  type MatchUpdate,
  PAIR_CONFIDENCE_MIN,
} from "./model.ts";
import { MATCHING_COEFFICIENTS, WORD_WEIGHTS } from "./model-data.ts";
import { compareRules, parseRules } from "./rules.ts";
import { CANDIDATES_MAX, searchTerms, TERM_SHARE_MIN } from "./search-terms.ts";

/** Minimum probability of a stored link. */
const LINK_PROBABILITY_MIN = 0.1;
/** Log-odds that each supporting link adds (`EventSupports`). */
const SUPPORT_LOG_ODDS = 0.7;
/**
 * Log-odds that a venue's statement that a market copies another one adds: such statements are rarely wrong, but the
 * deadline can differ.
 */
const MIRROR_LOG_ODDS = Math.log(99);
/** Maximum number of links of a market. Otherwise many equal titles at one venue would fill the memory. */
const LINKS_MAX = 64;
/** Maximum number of rounds per update for propagating a changed pair to the pairs that it affects. */
const SETTLE_ROUNDS_MAX = 8;

/**
 * Finds markets of different venues that ask the same question. Keeps its state in memory, and compares only candidates
 * with common terms.
 */
export class MatchIndex {
  readonly #confidenceMin: number;
  readonly #byId = new Map<string, IndexedMarket>();
  readonly #byRow: (IndexedMarket | undefined)[] = [];
  readonly #freeRows: number[] = [];
  readonly #venues = new Map<string, number>();
  readonly #blocks = new CandidateIndex();
  readonly #interner = new Interner();
  readonly #dirty = new Set<IndexedMarket>();
  readonly #unsettled = new Set<IndexedMarket>();
  readonly #pairs = new Map<string, MarketPair>();
  readonly #overrides = new Map<string, MatchOverride>();
  readonly #overridesOf = new Map<string, MatchOverride[]>();
  readonly #judgements = new Judgements();
  readonly #events = new EventMatcher();
  readonly #supports = new EventSupports<IndexedMarket>();
  readonly #mirrors = new Mirrors<IndexedMarket>();
  readonly #rulesWanted = new Set<string>();

  /** @param confidenceMin  lowest confidence of a pair, in [0, 1] */
  constructor(confidenceMin = PAIR_CONFIDENCE_MIN) {
    this.#confidenceMin = confidenceMin;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Adds a market, or replaces it after a change. The next updates match it. */
  set(market: MatchableMarket): void {
    const rules = this.#byId.get(market.id)?.rules;
    this.#drop(market.id);
    const row = this.#freeRows.pop() ?? this.#byRow.length;
    const venue = this.#venues.get(market.venue) ?? this.#venues.size;
    this.#venues.set(market.venue, venue);
    const fingerprint = internFingerprint(createFingerprint(market), this.#interner);
    const indexed: IndexedMarket = {
      row,
      id: market.id,
      venue,
      eventSlug: market.eventSlug,
      ...mirrorKeysOf(market),
      fingerprint,
      rules,
      areRulesAsked: false,
      links: NO_LINKS,
      pairKeys: NO_KEYS,
    };
    this.#byRow[row] = indexed;
    this.#byId.set(market.id, indexed);
    this.#blocks.set(row, venue, searchTerms(fingerprint, WORD_WEIGHTS, 0));
    this.#dirty.add(indexed);
    this.#mirrors.add(indexed);
    this.#unsettleAll(this.#supports.add(indexed));
    if (market.eventSlug !== null) this.#events.setMarket(market.eventSlug, market, fingerprint);
  }

  remove(id: string): void {
    this.#drop(id);
    this.#judgements.remove(id);
  }

  #drop(id: string): void {
    const market = this.#byId.get(id);
    if (market === undefined) return;
    this.#unlink(market);
    this.#unsettled.add(market);
    this.#byId.delete(id);
    this.#byRow[market.row] = undefined;
    this.#blocks.delete(market.row);
    this.#mirrors.delete(market);
    this.#freeRows.push(market.row);
    this.#dirty.delete(market);
    this.#rulesWanted.delete(id);
    this.#unsettleAll(this.#supports.remove(market));
    if (market.eventSlug !== null) this.#events.removeMarket(market.eventSlug, id);
  }

  /** Sets the resolution rules of a market that an update requested; null if the market has none. */
  setRules(id: string, rules: string | null): void {
    const market = this.#byId.get(id);
    if (market === undefined) return;
    // The earlier rules may have excluded candidates that the new rules allow.
    if (market.rules !== undefined) this.#dirty.add(market);
    market.rules = rules === null ? null : parseRules(rules);
    this.#rulesWanted.delete(id);
    this.#relink(market);
  }

  /** Replaces all decisions of the operator. */
  setOverrides(overrides: readonly MatchOverride[]): void {
    const decided = [...this.#overrides.values(), ...overrides];
    const forbidden = new Set(decided.filter(({ a, b }) => this.#isForbidden(a, b)).map(({ a, b }) => keyOf(a, b)));
    this.#overrides.clear();
    this.#overridesOf.clear();
    for (const override of overrides) {
      const { a, b } = override;
      this.#overrides.set(keyOf(a, b), override);
      for (const id of [a, b]) this.#overridesOf.set(id, [...(this.#overridesOf.get(id) ?? []), override]);
    }
    for (const { a, b } of decided) {
      for (const id of [a, b]) this.#touch(id);
      const [market, other] = [this.#byId.get(a), this.#byId.get(b)];
      if (market === undefined || other === undefined) continue;
      if (forbidden.has(keyOf(a, b)) !== this.#isForbidden(a, b)) this.#relink(market, [other]);
    }
  }

  /** Adds, replaces or withdraws judgements. A judgement is kept until one of its markets is removed. */
  setJudgements(judgements: readonly MatchJudgement[]): void {
    for (const judgement of judgements) {
      this.#judgements.set(judgement);
      const [market, other] = [this.#byId.get(judgement.a), this.#byId.get(judgement.b)];
      if (market === undefined || other === undefined) continue;
      if (market.links.some((link) => link.other === other)) this.#relink(market, [other]);
    }
  }

  /** Matches at most `limit` changed markets and returns the changes since the previous update. */
  update(limit: number): MatchUpdate {
    let count = 0;
    for (const market of this.#dirty) {
      if (count === limit) break;
      this.#dirty.delete(market);
      this.#match(market);
      count += 1;
    }
    const { added, removed } = this.#settle();
    const eventLegs = added.filter(({ confidence }) => confidence >= PAIR_CONFIDENCE_MIN);
    const events = this.#events.update(eventLegs, removed, (id) => this.#byId.get(id)?.eventSlug ?? null);
    const rulesWanted = [...this.#rulesWanted];
    this.#rulesWanted.clear();
    return { added, removed, ...events, rulesWanted, pendingCount: this.#dirty.size };
  }

  #match(market: IndexedMarket): void {
    const rows = this.#blocks.find(searchTerms(market.fingerprint, WORD_WEIGHTS, 1), {
      row: market.row,
      limit: CANDIDATES_MAX,
      shareMin: TERM_SHARE_MIN,
    });
    const others = rows.map((row) => this.#byRow[row]).filter((other) => other !== undefined);
    this.#relink(market, [...others, ...this.#mirrors.of(market)]);
  }

  /** Compares a market again with its links, which other markets may have found, and with further candidates. */
  #relink(market: IndexedMarket, candidates: readonly IndexedMarket[] = []): void {
    const others = new Set([...market.links.map(({ other }) => other), ...candidates]);
    this.#unlink(market);
    this.#unsettled.add(market);
    for (const other of others) this.#link(market, other);
  }

  #link(market: IndexedMarket, other: IndexedMarket): void {
    const link = this.#isForbidden(market.id, other.id) ? null : this.#compare(market, other);
    if (link === null) return;
    market.links = [...market.links, link];
    other.links = [...other.links, { other: market, relation: REVERSED[link.relation], probability: link.probability }];
    for (const holder of [market, other]) {
      this.#unsettleEvent(holder);
      if (holder.links.length > LINKS_MAX) this.#dropWeakestLink(holder);
    }
  }

  /** The markets of an event support each other, so a changed link can change the confidence of all their pairs. */
  #unsettleEvent(market: IndexedMarket): void {
    this.#unsettled.add(market);
    for (const sibling of this.#supports.siblingsOf(market)) this.#unsettled.add(sibling);
  }

  /** Settles markets whose supports change, and the markets with which they compete for a pair. */
  #unsettleAll(markets: ReadonlySet<IndexedMarket>): void {
    for (const market of markets) {
      this.#unsettled.add(market);
      for (const { other } of market.links) this.#unsettled.add(other);
    }
  }

  #dropWeakestLink(market: IndexedMarket): void {
    const { other } = market.links.reduce((worst, link) => (isBetter(worst, link) ? link : worst));
    market.links = market.links.filter((link) => link.other !== other);
    other.links = other.links.filter((link) => link.other !== market);
    this.#unsettleEvent(other);
  }

  /** Compares two markets. Returns null if they are not related. */
  #compare(market: IndexedMarket, other: IndexedMarket): Link | null {
    if (hasEarlyVeto(market.fingerprint, other.fingerprint, WORD_WEIGHTS)) return null;
    const comparison = compareMarkets(market.fingerprint, other.fingerprint, WORD_WEIGHTS);
    const { relation, probability } = decideMarkets(comparison, MATCHING_COEFFICIENTS);
    if (relation === null) return null;
    const onBoard = calibrateForBoard(probability, MATCHING_COEFFICIENTS);
    const isMirror = isSameQuestion({ relation }) && areMirrors(market, other);
    const confidence = isMirror ? sigmoid(logit(onBoard) + MIRROR_LOG_ODDS) : onBoard;
    if (confidence < LINK_PROBABILITY_MIN) return null;
    if (!isSameQuestion({ relation })) return { other, relation, probability: confidence };
    this.#askForRules(market);
    this.#askForRules(other);
    if (compareRules(market.rules ?? null, other.rules ?? null).vetoes.length > 0) return null;
    return { other, relation, probability: this.#judgements.adjust(confidence, relation, [market.id, other.id]) };
  }

  #askForRules(market: IndexedMarket): void {
    if (market.areRulesAsked) return;
    market.areRulesAsked = true;
    this.#rulesWanted.add(market.id);
  }

  #unlink(market: IndexedMarket): void {
    for (const { other } of market.links) {
      other.links = other.links.filter((link) => link.other !== market);
      this.#unsettleEvent(other);
    }
    if (market.links.length > 0) this.#unsettleEvent(market);
    market.links = NO_LINKS;
  }

  /** Recomputes the pairs of the markets whose links have changed. */
  #settle(): { added: MarketPair[]; removed: { a: string; b: string }[] } {
    const before = new Map<string, MarketPair | null>();
    for (let round = 0; round < SETTLE_ROUNDS_MAX && this.#unsettled.size > 0; round++) {
      const markets = [...this.#unsettled];
      this.#unsettled.clear();
      for (const market of markets) for (const id of this.#settleMarket(market, before)) this.#touch(id);
    }
    const added: MarketPair[] = [];
    const removed: { a: string; b: string }[] = [];
    for (const [key, previous] of before) {
      const pair = this.#pairs.get(key) ?? null;
      if (previous !== null) removed.push({ a: previous.a, b: previous.b });
      if (pair !== null) added.push(pair);
    }
    return { added, removed };
  }

  #touch(id: string): void {
    const market = this.#byId.get(id);
    if (market !== undefined) this.#unsettled.add(market);
  }

  /** Recomputes the pairs of one market. Returns the ids of other markets whose pairs may change as a result. */
  #settleMarket(market: IndexedMarket, before: Map<string, MarketPair | null>): Set<string> {
    const touched = new Set<string>();
    const wanted = new Map<string, Choice>();
    if (this.#byId.get(market.id) === market)
      for (const choice of this.#choosePairs(market)) wanted.set(keyOf(market.id, choice.other.id), choice);
    for (const key of new Set([...market.pairKeys, ...wanted.keys()])) {
      const previous = this.#pairs.get(key) ?? null;
      const choice = wanted.get(key) ?? null;
      if (previous === null ? choice === null : choice !== null && isSamePair(previous, choice, market)) continue;
      if (!before.has(key)) before.set(key, previous);
      const [a = "", b = ""] = key.split("\n");
      touched.add(a === market.id ? b : a);
      if (choice === null) this.#forgetPair(key, market);
      else this.#storePair(key, market, choice);
    }
    return touched;
  }

  #storePair(key: string, market: IndexedMarket, choice: Choice): void {
    this.#pairs.set(key, this.#createPair(market, choice));
    for (const holder of [market, choice.other])
      if (!holder.pairKeys.includes(key)) holder.pairKeys = [...holder.pairKeys, key];
  }

  #forgetPair(key: string, market: IndexedMarket): void {
    const pair = this.#pairs.get(key);
    this.#pairs.delete(key);
    const holders = [pair?.a, pair?.b].map((id) => (id === undefined ? undefined : this.#byId.get(id)));
    for (const holder of [market, ...holders])
      if (holder !== undefined) holder.pairKeys = holder.pairKeys.filter((known) => known !== key);
  }

  /** Returns the pairs that a market should have: per venue, the pair that is the best choice of both markets. */
  #choosePairs(market: IndexedMarket): Choice[] {
    const choices = this.#pinnedChoices(market);
    const pinnedVenues = new Set(choices.map(({ other }) => other.venue));
    const venues = new Set(market.links.map(({ other }) => other.venue));
    for (const venue of venues) {
      const link = pinnedVenues.has(venue) ? undefined : this.#bestLink(market, venue);
      if (link === undefined || this.#bestPartner(link.other, market.venue) !== market) continue;
      // A pair whose rules have not been read could be wrong.
      if (isSameQuestion(link) && (market.rules === undefined || link.other.rules === undefined)) continue;
      const confidence = isSameQuestion(link) ? this.#exclusiveConfidence(market, link) : link.probability;
      if (confidence < this.#confidenceMin) continue;
      choices.push({ other: link.other, relation: link.relation, confidence, source: "model" });
    }
    return choices;
  }

  #pinnedChoices(market: IndexedMarket): Choice[] {
    const choices: Choice[] = [];
    for (const { a, b, decision } of this.#overridesOf.get(market.id) ?? []) {
      const other = this.#byId.get(a === market.id ? b : a);
      if (decision === "forbidden" || other === undefined) continue;
      choices.push({ other, relation: decision, confidence: 1, source: "operator" });
    }
    return choices;
  }

  /** The best link of a market at a venue. A link to the same or opposite question takes precedence. */
  #bestLink(market: IndexedMarket, venue: number): Link | undefined {
    let best: Link | undefined;
    for (const link of market.links) if (link.other.venue === venue && isBetter(link, best)) best = link;
    return best;
  }

  #bestPartner(market: IndexedMarket, venue: number): IndexedMarket | undefined {
    const pinned = this.#pinnedChoices(market).find(({ other }) => other.venue === venue);
    return (pinned ?? this.#bestLink(market, venue))?.other;
  }

  #isForbidden(a: string, b: string): boolean {
    return this.#overrides.size > 0 && this.#overrides.get(keyOf(a, b))?.decision === "forbidden";
  }

  /**
   * Probability of a link given that a market has at most one match per venue: o / (1 + sum of odds), where o are the
   * odds of the link. The sum is over the link and the alternatives of both markets. The result is the same for both
   * markets.
   */
  #exclusiveConfidence(market: IndexedMarket, chosen: Link): number {
    const { other, relation } = chosen;
    const odds = (holder: IndexedMarket, { other: partner, probability }: Link) =>
      (probability / (1 - Math.min(probability, 1 - 1e-9))) *
      Math.exp(SUPPORT_LOG_ODDS * this.#supports.count(holder, partner));
    const own = odds(market, chosen);
    const alternatives = (holder: IndexedMarket, partner: IndexedMarket) =>
      holder.links
        // The other side of a game is the inverse of the same market, not an alternative.
        .filter((link) => link.relation === relation && link.other.venue === partner.venue && link.other !== partner)
        .reduce((sum, link) => sum + odds(holder, link), 0);
    // The parentheses make the floating-point sum independent of the order of the markets.
    return own / (1 + own + (alternatives(market, other) + alternatives(other, market)));
  }

  #createPair(market: IndexedMarket, { other, relation, confidence, source }: Choice): MarketPair {
    const isFirst = market.id < other.id;
    const [a, b] = isFirst ? [market, other] : [other, market];
    const ownRelation = isFirst ? relation : REVERSED[relation];
    return {
      a: a.id,
      b: b.id,
      relation: ownRelation,
      confidence,
      evidence:
        source === "operator"
          ? OPERATOR_EVIDENCE
          : [...describe(a, b, ownRelation), ...this.#furtherEvidence(a, b, ownRelation)],
      source,
    };
  }

  #furtherEvidence(a: IndexedMarket, b: IndexedMarket, relation: MatchRelation): string[] {
    if (!isSameQuestion({ relation })) return [];
    const judgement = this.#judgements.find(a.id, b.id);
    return [...(areMirrors(a, b) ? [MIRROR_EVIDENCE] : []), ...(judgement === undefined ? [] : [judgement.evidence])];
  }
}

const MIRROR_EVIDENCE = "One venue states that its market copies the other one.";
const OPERATOR_EVIDENCE = ["The operator decided that these markets match."];

function describe(a: IndexedMarket, b: IndexedMarket, relation: MatchRelation): string[] {
  const comparison = compareMarkets(a.fingerprint, b.fingerprint, WORD_WEIGHTS);
  const { notes } = compareRules(a.rules ?? null, b.rules ?? null);
  return describeMatch(a.fingerprint, b.fingerprint, comparison, relation, notes);
}
