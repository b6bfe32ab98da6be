import { CATEGORIES, type Category } from "../domain/category.ts";
import type { CategorySummary } from "./model.ts";

/** Maximum volume of a market. A larger volume counts as unknown, because it would make sums inexact. */
const VOLUME_USD_MAX = 1e11;

interface Totals {
  marketCount: number;
  /** Number of markets whose volume is known. */
  volumeCount: number;
  /** Sum of the known volumes in cents. Integers add up exactly in any order. */
  volumeCents: number;
}

interface Entry {
  readonly totals: Totals;
  readonly volumeCents: number | null;
}

/** Number and 24-hour volume of active markets by venue and category, updated on every market change. */
export class CategoryTotals {
  readonly #totals = new Map<string, Map<Category, Totals>>();
  readonly #entries: (Entry | undefined)[] = [];

  /** Replaces the contribution of a row; null if the row contributes nothing. */
  set(
    row: number,
    market: { readonly venue: string; readonly category: Category; readonly volume24hUsd: number | null } | null,
  ): void {
    this.#add(this.#entries[row], -1);
    if (market === null) {
      if (this.#entries[row] !== undefined) this.#entries[row] = undefined;
      return;
    }
    const { volume24hUsd } = market;
    const isKnown = volume24hUsd !== null && volume24hUsd <= VOLUME_USD_MAX;
    const volumeCents = isKnown ? Math.round(volume24hUsd * 100) : null;
    const entry = { totals: this.#totalsOf(market.venue, market.category), volumeCents };
    this.#entries[row] = entry;
    this.#add(entry, 1);
  }

  /** Returns the totals of the venues, without empty categories, in the order of `CATEGORIES`. */
  summarise(venues: readonly string[]): CategorySummary[] {
    return CATEGORIES.flatMap((category) => {
      const totals = venues.flatMap((venue) => this.#totals.get(venue)?.get(category) ?? []);
      const sum = (field: keyof Totals) => totals.reduce((total, each) => total + each[field], 0);
      const marketCount = sum("marketCount");
      if (marketCount === 0) return [];
      return [{ category, marketCount, volume24hUsd: sum("volumeCount") === 0 ? null : sum("volumeCents") / 100 }];
    });
  }

  #add(entry: Entry | undefined, sign: 1 | -1): void {
    if (entry === undefined) return;
    const { totals, volumeCents } = entry;
    totals.marketCount += sign;
    if (volumeCents === null) return;
    totals.volumeCount += sign;
    totals.volumeCents += sign * volumeCents;
  }

  #totalsOf(venue: string, category: Category): Totals {
    const byCategory = this.#totals.get(venue) ?? new Map<Category, Totals>();
    this.#totals.set(venue, byCategory);
    const totals = byCategory.get(category) ?? { marketCount: 0, volumeCount: 0, volumeCents: 0 };
    byCategory.set(category, totals);
    return totals;
  }
}
