import { type BoardMarket, eventSlug, type MarketBoard } from "../../../board/index.ts";
import type { VenueId } from "../../../domain/market.ts";
import type { LiveValues } from "./examples.ts";

/** Maximum number of markets to search for one with an event. */
const CANDIDATES_MAX = 50;
/** Number of ids in the example of a request for several markets. */
const LISTED_IDS = 2;

/**
 * Creates a function that returns the ids of an open market with an event, or null if there is none. The market stays
 * the same until it closes, so that pages change rarely.
 */
export function createLiveValues(board: MarketBoard, venues: readonly VenueId[]): () => LiveValues | null {
  let current: BoardMarket | null = null;
  return () => {
    if (current !== null) current = findOpen(board, current);
    current ??= selectMarket(board, venues);
    return current === null ? null : toValues(board, current);
  };
}

function findOpen(board: MarketBoard, { listing: { venue, marketId } }: BoardMarket): BoardMarket | null {
  const market = board.find(venue, marketId);
  return market !== null && market.listing.status === "active" && market.yesPrice !== null ? market : null;
}

const listMostTraded = (board: MarketBoard, venues: readonly VenueId[], limit: number): readonly BoardMarket[] =>
  board.list({ venues, statuses: ["active"], sort: "volume_24h", limit, category: null, text: null, after: null });

const selectMarket = (board: MarketBoard, venues: readonly VenueId[]): BoardMarket | null =>
  listMostTraded(board, venues, CANDIDATES_MAX).find(({ listing }) => listing.eventId !== null) ?? null;

function toValues(board: MarketBoard, { listing: { venue, marketId, eventId } }: BoardMarket): LiveValues {
  const mostTraded = listMostTraded(board, [venue], LISTED_IDS).map(({ listing }) => listing.marketId);
  return {
    platform: venue,
    market_id: marketId,
    slug: eventSlug(venue, eventId ?? ""),
    market_ids: [...new Set([marketId, ...mostTraded])].slice(0, LISTED_IDS),
  };
}
