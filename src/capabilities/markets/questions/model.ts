import { eventSlugOf } from "../../../board/index.ts";
import type { MarketListing } from "../../../domain/market.ts";
import { formatMarketRef, type MarketRef } from "../../../domain/market-name.ts";

/** A link between two nodes (markets or events) of the same question. */
export interface QuestionLink {
  /** From `marketNode` or `eventNode`. */
  readonly node: string;
  readonly linkedNode: string;
}

export const marketNode = (market: MarketRef): string => `market:${formatMarketRef(market)}`;

/** @param slug  as `eventSlug` returns it */
export const eventNode = (slug: string): string => `event:${slug}`;

/** Returns the node of the event that contains a market; null if its venue has no event for it. */
export function eventNodeOf(listing: Pick<MarketListing, "venue" | "eventId">): string | null {
  const slug = eventSlugOf(listing);
  return slug === null ? null : eventNode(slug);
}

/**
 * Assigns nodes to questions: the connected components of the links (union-find). The order of links does not matter.
 */
export class QuestionIndex {
  readonly #parents = new Map<string, string>();

  add({ node, linkedNode }: QuestionLink): void {
    const [a, b] = [this.#rootOf(node), this.#rootOf(linkedNode)];
    if (a === b) return;
    const [root, child] = a < b ? [a, b] : [b, a];
    this.#parents.set(child, root);
  }

  /** Returns the id of a market's question: equal for two markets if and only if they belong to the same question. */
  questionOf(market: MarketRef): string {
    return this.#rootOf(marketNode(market));
  }

  /** Returns the number of distinct questions of the markets. */
  count(markets: readonly MarketRef[]): number {
    return new Set(markets.map((market) => this.questionOf(market))).size;
  }

  #rootOf(node: string): string {
    let root = node;
    for (let parent = this.#parents.get(root); parent !== undefined; parent = this.#parents.get(root)) root = parent;
    // Path compression, so that later calls need few steps.
    for (let child = node; child !== root; ) {
      const parent = this.#parents.get(child) ?? root;
      this.#parents.set(child, root);
      child = parent;
    }
    return root;
  }
}
