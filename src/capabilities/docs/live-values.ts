import { type BoardMarket, eventSlug, type MarketBoard } from "../../board/index.ts";
import type { VenueId } from "../../domain/market.ts";
import type { LiveValues } from "./examples.ts";

/** Maximum number of markets that are searched for one with an event. */
const CANDIDATES_MAX = 50;

/**
 * Creates a function that returns the ids of an open market with an event, or null if there is none. The market stays
 * the same until it closes, so that pages change rarely.
 */
export function createLiveValues(board: MarketBoard, venues: readonly VenueId[]): () => LiveValues | null {
  let current: BoardMarket | null = null;
  return () => {
    if (current !== null) current = findOpen(board, current);
    current ??= selectMarket(board, venues);
    return current === null ? null : toValues(current);
  };
}

function findOpen(board: MarketBoard, { listing: { venue, marketId } }: BoardMarket): BoardMarket | null {
  const market = board.find(venue, marketId);
  return market !== null && market.listing.status === "active" && market.yesPrice !== null ? market : null;
}

function selectMarket(board: MarketBoard, venues: readonly VenueId[]): BoardMarket | null {
  const filters = { category: null, text: null, after: null };
  const markets = board.list({ venues, statuses: ["active"], sort: "volume_24h", limit: CANDIDATES_MAX, ...filters });
  return markets.find(({ listing }) => listing.eventId !== null) ?? null;
}

const toValues = ({ listing: { venue, marketId, eventId } }: BoardMarket): LiveValues => ({
  platform: venue,
  market_id: marketId,
  slug: eventSlug(venue, eventId ?? ""),
});
