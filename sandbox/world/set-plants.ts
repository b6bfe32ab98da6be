import { HOUR_MS } from "../../src/lib/durations.ts";
import type { Lifecycle, ListedEvent, ListedMarket, NotTradableReason, World } from "./types.ts";

/** Sum of the asks of a planted set. Even with the venue's highest taker fee, below 0.06, the set costs less than 1. */
const ASKS_SUM = 0.8;
const OUTCOMES_MIN = 3;
/** Minimum time until the end of trading, so that the set stays tradable. */
const OPEN_MS_MIN = 2 * HOUR_MS;

export const LEFT_OUT_ROWS: readonly NotTradableReason[] = [
  "unreadable",
  "placeholder",
  "other",
  "closed",
  "settled_no",
];

/** A set of exclusive outcomes whose asks sum to less than 1. */
export interface PlantedSet {
  readonly event: ListedEvent;
  /** True if exactly one of `outcomes` resolves YES. */
  readonly complete: boolean;
  /** The outcomes that can be bought, with their new best asks. */
  readonly outcomes: readonly { readonly market: ListedMarket; readonly ask: number }[];
  /** The outcome that cannot be bought; null if all can be bought. */
  readonly leftOut: { readonly market: ListedMarket; readonly row: NotTradableReason } | null;
}

/** The events with planted sets, and the rows of their omitted outcomes. */
export class SetPlants {
  readonly #rows = new Map<number, { readonly at: number; readonly row: NotTradableReason }>();
  readonly #events = new Set<number>();

  /**
   * Returns whether a set can be planted: the event is exclusive and exhaustive, has no planted set, and all its
   * outcomes trade for two more hours.
   */
  canPlant(world: World, event: ListedEvent, at: number): boolean {
    return (
      event.mutuallyExclusive &&
      event.exhaustive &&
      event.markets.length >= OUTCOMES_MIN &&
      event.closeAt - at >= OPEN_MS_MIN &&
      !this.#events.has(event.index) &&
      event.markets.every(
        (market) => world.lifecycle(market, at).phase === "active" && world.book(market, at).asks.length > 0,
      )
    );
  }

  /** Makes the most likely outcome unavailable (`row`), or none if `row` is null, and scales the asks of the others. */
  add(world: World, event: ListedEvent, at: number, row: NotTradableReason | null): PlantedSet {
    const quoted = event.markets
      .map((market) => ({ market, ask: world.book(market, at).asks[0]?.price ?? 1 }))
      .sort((a, b) => b.ask - a.ask);
    const market = row === null ? undefined : quoted.shift()?.market;
    const factor = ASKS_SUM / quoted.reduce((sum, { ask }) => sum + ask, 0);
    const outcomes = quoted.map((outcome) => {
      const { tick } = outcome.market;
      const ask = Math.max(1, Math.floor((outcome.ask * factor) / tick)) * tick;
      return { market: outcome.market, ask: Math.round(ask * 1e6) / 1e6 };
    });
    this.#events.add(event.index);
    if (row === null || market === undefined) return { event, complete: true, outcomes, leftOut: null };
    this.#rows.set(market.index, { at, row });
    return { event, complete: row === "settled_no", outcomes, leftOut: { market, row } };
  }

  find({ index }: ListedMarket, at: number): NotTradableReason | null {
    const planted = this.#rows.get(index);
    return planted === undefined || planted.at > at ? null : planted.row;
  }

  lifecycle(market: ListedMarket, at: number): Lifecycle | null {
    const planted = this.#rows.get(market.index);
    if (planted === undefined || planted.at > at) return null;
    const isPending = planted.row === "placeholder" || planted.row === "other";
    return isPending ? { phase: "pending", outcome: null, since: planted.at } : null;
  }

  nextPhaseAt({ index }: ListedMarket, after: number): number {
    const at = this.#rows.get(index)?.at ?? Infinity;
    return at > after ? at : Infinity;
  }
}
