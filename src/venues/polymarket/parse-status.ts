import type { MarketListing, MarketStatus } from "../../domain/market.ts";
import { oracleStateOfRow, outcomeOfPrices, type ParsedResolution } from "./parse-resolution.ts";
import { parseTime } from "./parse-values.ts";
import type { GammaMarket } from "./wire.ts";

/** The resolution of one market by source. */
export interface ResolutionSources {
  /** The row of the oracle's feed; null if the feed has no row or was not read. */
  readonly feed: ParsedResolution | null;
  /** The settlement reported by the stream; null if there is none. */
  readonly streamed: ParsedResolution | null;
}

/** Outcome and time are null unless the market is finalized. */
type MarketState = Pick<MarketListing, "status" | "outcome" | "resolvedAt">;

/**
 * Determines the status of a market (docs/decisions/0021). In order of precedence:
 *
 * 1. The oracle: the row of its feed (an older row is replaced by the stream's settlement), then the oracle status of
 *    the market row. Only a settled oracle makes a market final. If the market row has this status before the market is
 *    closed, the market is determined until it is closed or the feed confirms the status.
 * 2. Orders: a proposal or a dispute does not end trading. A market with one is determined only if it accepts no
 *    orders.
 * 3. Prices of exactly 0, 0.5 or 1 make a closed market final only if no source has an oracle state. This is the case
 *    for questions that are not resolved by the oracle.
 * 4. Dates: they only determine whether a market that accepts no orders has not opened yet. An end date in the past
 *    has no effect.
 *
 * @param now  Unix milliseconds
 */
export function parseState(row: GammaMarket, sources: ResolutionSources, now: number): MarketState {
  const settlement = settlementOf(sources);
  const status = statusOf(row, settlement, sources.feed, now);
  if (status !== "finalized") return { status, outcome: null, resolvedAt: null };
  return {
    status,
    outcome: settlement?.outcome ?? outcomeOfPrices(row.outcomePrices),
    resolvedAt: settlement?.resolvedAt ?? parseTime(row.closedTime),
  };
}

/** Returns the final resolution of the feed. Without one, returns the stream's, unless the feed has a dispute. */
function settlementOf({ feed, streamed }: ResolutionSources): ParsedResolution | null {
  if (feed?.state === "settled") return feed;
  return feed?.state === "contested" ? null : streamed;
}

function statusOf(
  row: GammaMarket,
  settlement: ParsedResolution | null,
  feed: ParsedResolution | null,
  now: number,
): MarketStatus {
  if (settlement !== null) return "finalized";
  const isClosed = row.closed === true || row.archived === true;
  const state = feed === null || feed.state === "unavailable" ? oracleStateOfRow(row) : feed.state;
  if (state === "settled") return isClosed ? "finalized" : "determined";
  const isContestable = state === "proposed" || state === "contested";
  const acceptsOrders = !isClosed && row.active !== false && row.acceptingOrders === true;
  if (isContestable && !acceptsOrders) return "determined";
  if (isClosed) {
    const isPinned = row.closed === true && outcomeOfPrices(row.outcomePrices) !== null;
    return isPinned && state === null && feed === null ? "finalized" : "closed";
  }
  if (row.active === false) return "pending";
  if (row.acceptingOrders !== false) return "active";
  const opensAt = parseTime(row.acceptingOrdersTimestamp) ?? parseTime(row.startDate);
  return opensAt !== null && opensAt > now ? "pending" : "closed";
}
