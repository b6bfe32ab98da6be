import type { BoardMarket, MarketBoard } from "../board/index.ts";
import type { VenueId } from "../domain/market.ts";

/** A venue's active markets with the highest 24-hour volume, highest first. Scans the whole board. */
export function listMostTraded(board: MarketBoard, venue: VenueId, limit: number): BoardMarket[] {
  return board.list({
    venues: [venue],
    statuses: ["active"],
    category: null,
    text: null,
    sort: "volume_24h",
    limit,
    after: null,
  });
}
