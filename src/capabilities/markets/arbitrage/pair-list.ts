import type { BoardMarket, MarketBoard, MarketObserver } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import { formatMarketRef, parseMarketRef } from "../../../domain/market-name.ts";
import { isSameQuestion, type MarketPair } from "../../../matching/index.ts";
import type { MatchedPairs, PairChanges, PairObserver } from "../matching/index.ts";
import { comparePrices, type PairSpread, topOfBookOf } from "./compare.ts";
import { MATCH_CONFIDENCE_MIN } from "./model.ts";

/** A market that belongs to at least one pair. */
interface Leg {
  readonly id: string;
  /** Null while the board does not have the market. */
  market: BoardMarket | null;
  readonly entries: Set<Entry>;
}

interface Entry {
  readonly pair: MarketPair;
  readonly a: Leg;
  readonly b: Leg;
  /** Null while the prices cannot be compared. */
  spread: PairSpread | null;
}

/** A pair whose best prices can be compared. */
export interface ComparedPair {
  readonly pair: MarketPair;
  readonly a: BoardMarket;
  readonly b: BoardMarket;
  readonly spread: PairSpread;
}

/** The price differences of all matched pairs. A change of a market or pair updates only the affected pairs. */
export class ComparedPairList implements MarketObserver, PairObserver {
  readonly #board: MarketBoard;
  readonly #venues: ReadonlySet<VenueId>;
  readonly #legs = new Map<string, Leg>();
  /** The leg of a board row; null for a market without a pair; absent before the first change of the row's market. */
  readonly #legOfRow: (Leg | null | undefined)[] = [];
  readonly #entries = new Map<string, Entry>();
  /** The entries with a spread. */
  readonly #compared = new Set<Entry>();

  /** @param venues  the trading venues; pairs with markets of other venues are ignored */
  constructor({ board, pairs, venues }: { board: MarketBoard; pairs: MatchedPairs; venues: Iterable<VenueId> }) {
    this.#board = board;
    this.#venues = new Set(venues);
    this.onPairs({ added: [...pairs.pairs()], removed: [] });
    pairs.observe(this);
    board.observe(this);
  }

  get size(): number {
    return this.#entries.size;
  }

  *compared(): Generator<ComparedPair> {
    for (const { pair, a, b, spread } of this.#compared)
      if (a.market !== null && b.market !== null && spread !== null) yield { pair, a: a.market, b: b.market, spread };
  }

  onSet(market: BoardMarket): void {
    const { row, listing } = market;
    let leg = this.#legOfRow[row];
    if (leg === undefined) {
      leg = this.#legs.get(formatMarketRef(listing)) ?? null;
      this.#legOfRow[row] = leg;
    }
    if (leg === null) return;
    const previous = leg.market;
    leg.market = market;
    if (previous !== null && hasSamePrices(previous, market)) return;
    for (const entry of leg.entries) this.#compare(entry);
  }

  onRemove(row: number): void {
    const leg = this.#legOfRow[row];
    this.#legOfRow[row] = undefined;
    if (leg == null) return;
    leg.market = null;
    for (const entry of leg.entries) this.#compare(entry);
  }

  onPairs({ added, removed }: PairChanges): void {
    for (const pair of removed) this.#remove(pair);
    for (const pair of added) this.#add(pair);
  }

  #add(pair: MarketPair): void {
    const [idA, idB] = [parseMarketRef(pair.a), parseMarketRef(pair.b)];
    if (!isSameQuestion(pair) || !(pair.confidence >= MATCH_CONFIDENCE_MIN) || idA.venue === idB.venue) return;
    if (!this.#venues.has(idA.venue) || !this.#venues.has(idB.venue)) return;
    this.#remove(pair);
    const entry: Entry = { pair, a: this.#legOf(pair.a), b: this.#legOf(pair.b), spread: null };
    this.#entries.set(keyOf(pair), entry);
    entry.a.entries.add(entry);
    entry.b.entries.add(entry);
    this.#compare(entry);
  }

  #remove(pair: { readonly a: string; readonly b: string }): void {
    const entry = this.#entries.get(keyOf(pair));
    if (entry === undefined) return;
    this.#entries.delete(keyOf(pair));
    this.#compared.delete(entry);
    for (const leg of [entry.a, entry.b]) {
      leg.entries.delete(entry);
      if (leg.entries.size > 0) continue;
      this.#legs.delete(leg.id);
      if (leg.market !== null) this.#legOfRow[leg.market.row] = null;
    }
  }

  #legOf(id: string): Leg {
    const existingLeg = this.#legs.get(id);
    if (existingLeg !== undefined) return existingLeg;
    const { venue, marketId } = parseMarketRef(id);
    const leg: Leg = { id, market: this.#board.find(venue, marketId), entries: new Set() };
    this.#legs.set(id, leg);
    if (leg.market !== null) this.#legOfRow[leg.market.row] = leg;
    return leg;
  }

  #compare(entry: Entry): void {
    const { pair, a, b } = entry;
    const topA = a.market === null ? null : topOfBookOf(a.market);
    const topB = b.market === null ? null : topOfBookOf(b.market);
    entry.spread = topA === null || topB === null ? null : comparePrices(pair.relation, topA, topB);
    if (entry.spread === null) this.#compared.delete(entry);
    else this.#compared.add(entry);
  }
}

const keyOf = ({ a, b }: { readonly a: string; readonly b: string }): string => `${a}\n${b}`;

/** Whether two states of a market have the same prices for the spread. Sizes and times are not compared. */
export function hasSamePrices(a: BoardMarket, b: BoardMarket): boolean {
  return (
    a.quote.bid === b.quote.bid && a.quote.ask === b.quote.ask && a.yesPrice === b.yesPrice && a.listing === b.listing
  );
}
