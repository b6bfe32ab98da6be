import type { Feed, FeedEvent, ListedMarket, SandboxVenue, World } from "../../../sandbox/world/types.ts";

/** A feed that emits an event only when the test publishes it. */
export class ManualFeed implements Feed {
  readonly #listeners = new Map<SandboxVenue, Set<(event: FeedEvent) => void>>();

  subscribe(venue: SandboxVenue, listener: (event: FeedEvent) => void): () => void {
    const listeners = this.#listeners.get(venue) ?? new Set();
    this.#listeners.set(venue, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  publish(event: FeedEvent): void {
    for (const listener of this.#listeners.get(event.market.venue) ?? []) listener(event);
  }

  /** Emits the trades of these markets in [from, to) in chronological order, each before the change of its book. */
  publishTrades(world: World, markets: readonly ListedMarket[], from: number, to: number): void {
    markets
      .flatMap((market) => world.trades(market, from, to).map((trade) => ({ market, trade, at: trade.at })))
      .sort((a, b) => a.at - b.at)
      .forEach(({ market, trade, at }) => {
        this.publish({ kind: "trade", market, trade, at });
        this.publish({ kind: "book", market, at });
      });
  }

  close(): void {
    this.#listeners.clear();
  }
}
