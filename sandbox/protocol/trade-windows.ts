import { HOUR_MS } from "../../src/lib/durations.ts";
import type { ListedMarket, World, WorldTrade } from "../world/types.ts";

const WINDOW_GROWTH = 4;

/** Yields the trades with from <= at < to in growing windows, the newest window first. Each window is oldest first. */
export function* readTradeWindows(
  world: World,
  market: ListedMarket,
  range: { readonly from: number; readonly to: number },
): Generator<readonly WorldTrade[]> {
  const from = Math.max(range.from, market.openAt);
  let { to } = range;
  for (let windowMs = HOUR_MS; to > from; windowMs *= WINDOW_GROWTH) {
    const windowStart = Math.max(from, to - windowMs);
    yield world.trades(market, windowStart, to);
    to = windowStart;
  }
}
