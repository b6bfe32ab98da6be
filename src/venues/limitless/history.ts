import type { MarketListing } from "../../domain/market.ts";
import type { HistoryPoint } from "../../domain/trade.ts";
import type { LimitlessContext } from "./client.ts";
import { slugOf } from "./ids.ts";
import { parseHistory } from "./parse-history.ts";

/** The shortest interval that the venue offers. */
const STEP_MS = 3_600_000;

/** Returns hourly YES prices, oldest first. The venue publishes no bid, ask or volume history. */
export async function fetchHistory(
  context: LimitlessContext,
  listing: MarketListing,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  signal: AbortSignal,
): Promise<readonly HistoryPoint[]> {
  const response = await context.client.findHistory(slugOf(listing), { fromMs, toMs }, signal);
  if (response === null) return [];
  const titles = [listing.outcomeLabel, listing.title].filter((title) => title !== null);
  return parseHistory(response.json, { fromMs, toMs, stepMs: STEP_MS, titles }, context);
}
