import { type BookLevel, normaliseBook } from "../../domain/order-book.ts";
import { complement } from "../../domain/price.ts";
import type { DropCounter } from "../../ports/venue.ts";
import { parsePrice } from "../shared/parse-values.ts";
import { parseSize } from "./parse-values.ts";
import type { OrderbookWire } from "./wire.ts";

/** Maximum number of levels per side. A valid order book has at most 1,000 (steps of 0.001). */
const LEVELS_MAX = 10_000;

/** Parses `[price, count]` rows. Levels without a tradable price or size are counted and omitted. */
function parseLevels(rows: readonly unknown[] | null | undefined, countDrop: DropCounter): BookLevel[] {
  const levels: BookLevel[] = [];
  for (const row of (rows ?? []).slice(0, LEVELS_MAX)) {
    const [first, second]: unknown[] = Array.isArray(row) ? row : [];
    const price = typeof first === "string" || typeof first === "number" ? parsePrice(first, countDrop) : null;
    const size = typeof second === "string" || typeof second === "number" ? parseSize(second) : null;
    if (price === null || size === null) countDrop("bad_level");
    else levels.push({ price, size });
  }
  return levels;
}

/** Parses a book. Both sides are lists of bids: a NO bid at q is a YES ask at 1 - q. Either side may be absent. */
export function parseBook(wire: OrderbookWire, countDrop: DropCounter): { bids: BookLevel[]; asks: BookLevel[] } {
  const { yes_dollars, no_dollars } = wire.orderbook_fp;
  const bids = parseLevels(yes_dollars, countDrop);
  const asks = parseLevels(no_dollars, countDrop).map(({ price, size }) => ({ price: complement(price), size }));
  return normaliseBook(bids, asks);
}
