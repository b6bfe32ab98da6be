import type { BoardMarket } from "../../board/index.ts";
import { categoryOf } from "../../domain/category.ts";
import type { MarketView } from "../../engine/index.ts";

/** Builds views from the board's quotes only. */
export function createMarketViews() {
  return {
    async viewOf({ listing, quote, activity, updatedAt }: BoardMarket, asOf: number): Promise<MarketView> {
      return {
        asOf,
        venue: listing.venue,
        adapter: null,
        marketId: listing.marketId,
        title: listing.title,
        category: categoryOf(listing.category),
        kind: "money",
        openAt: listing.openAt,
        closeAt: listing.closeAt,
        deadlineAt: null,
        takerFee: listing.takerFee,
        quote: { ...quote, at: Math.min(asOf, updatedAt) },
        prices: [],
        book: null,
        trades: [],
        activity: { at: Math.min(asOf, updatedAt), ...activity },
        peers: [],
        event: null,
        consensus: null,
        research: null,
      };
    },
  };
}
