import { isDeepStrictEqual } from "node:util";
import type { BoardMarket, MarketBoard } from "../../../board/index.ts";
import { parseMarketRef } from "../../../domain/market-name.ts";
import { isSameQuestion, type MarketPair } from "../../../matching/index.ts";
import { ALSO_ON_CONFIDENCE_MIN, type AlsoOn, partnerOf } from "./model.ts";

/**
 * The `also_on` links of each market. A market keeps the same object until its links change, so that its JSON can be
 * cached. Links are stored by board row for fast lookups, because a list request looks up a hundred.
 */
export class AlsoOnLinks {
  readonly #board: MarketBoard;
  readonly #pairsOf: (id: string) => readonly MarketPair[];
  readonly #byRow: (AlsoOn | undefined)[] = [];

  constructor(board: MarketBoard, pairsOf: (id: string) => readonly MarketPair[]) {
    this.#board = board;
    this.#pairsOf = pairsOf;
  }

  find({ row }: BoardMarket): AlsoOn | null {
    return this.#byRow[row] ?? null;
  }

  /** Recomputes the links of a market after its pairs or the URL of a partner have changed. */
  update(id: string): void {
    const { venue, marketId } = parseMarketRef(id);
    const market = this.#board.find(venue, marketId);
    if (market === null) return;
    const alsoOn = this.#compute(id);
    if (isDeepStrictEqual(alsoOn, this.find(market))) return;
    this.#byRow[market.row] = alsoOn ?? undefined;
  }

  /** Recomputes the links of all markets that are matched with a market whose URL has changed. */
  updatePartners(id: string): void {
    for (const pair of this.#pairsOf(id)) this.update(partnerOf(pair, id));
  }

  /** Must be called for each market that leaves the board, because its row may be reused. */
  onRemove(row: number): void {
    this.#byRow[row] = undefined;
  }

  /** Returns the URL of the most likely match at each venue; null if there is none. */
  #compute(id: string): AlsoOn | null {
    const urls: Record<string, string> = {};
    for (const pair of this.#pairsOf(id).toSorted((a, b) => b.confidence - a.confidence)) {
      if (!isSameQuestion(pair) || pair.confidence < ALSO_ON_CONFIDENCE_MIN) continue;
      const { venue, marketId } = parseMarketRef(partnerOf(pair, id));
      const url = this.#board.find(venue, marketId)?.listing.url ?? null;
      if (url !== null) urls[venue] ??= url;
    }
    const sorted = Object.entries(urls).sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.length === 0 ? null : Object.fromEntries(sorted);
  }
}
