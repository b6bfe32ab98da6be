import type { ListingPage } from "../ports/venue.ts";
import type { VenueContext } from "./context.ts";

/** Number of markets that are applied to the board before yielding to the event loop. */
const SLICE_MARKETS_MAX = 200;

/** Applies a large page to the board in slices. The first slice contains the events. */
export async function applyInSlices({ clock, applyPage }: VenueContext, page: ListingPage): Promise<void> {
  let from = 0;
  do {
    await clock.yieldToEventLoop();
    const markets = page.markets.slice(from, from + SLICE_MARKETS_MAX);
    applyPage({ ...page, events: from === 0 ? page.events : [], markets });
    from += SLICE_MARKETS_MAX;
  } while (from < page.markets.length);
}
