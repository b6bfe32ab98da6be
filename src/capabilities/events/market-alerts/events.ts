import { createHash } from "node:crypto";
import type { BoardMarket } from "../../../board/index.ts";
import type { NewEvent } from "../../../event-log/index.ts";
import { HOUR_MS } from "../../../lib/durations.ts";
import type { EarlierShift } from "../../../quant/alerts/price-shift.ts";
import type { ShiftCandidate, WhaleCandidate } from "./model.ts";

const TITLE_LENGTH_MAX = 1_000;
/** Maximum number of price shifts of a market in a clock hour. */
export const SHIFTS_PER_HOUR_MAX = 10;

/** Returns the key of a market's n-th price shift in a clock hour, n from 0. It is the same on every node. */
function shiftKey({ listing: { venue, marketId } }: BoardMarket, hour: number, number: number): string {
  return `price_shift/${hour}/${number}/${venue}/${marketId}`;
}

/** Returns the keys of all possible price shifts of a market in the clock hour of `at`, the hour before and the hour after. */
export function recentShiftKeys(market: BoardMarket, at: number): string[] {
  const hour = Math.floor(at / HOUR_MS);
  return [hour - 1, hour, hour + 1].flatMap((each) =>
    Array.from({ length: SHIFTS_PER_HOUR_MAX }, (_, number) => shiftKey(market, each, number)),
  );
}

/** Returns the shift that a logged event describes; null if its payload has no prices. */
export function toEarlierShift(occurredAt: number, payload: Readonly<Record<string, unknown>>): EarlierShift | null {
  const { old_yes: oldPrice, new_yes: newPrice } = payload;
  if (typeof oldPrice !== "number" || typeof newPrice !== "number") return null;
  return { at: occurredAt, oldPrice, newPrice };
}

/** @param number  number of earlier price shifts of the market in the same clock hour */
export function createPriceShiftEvent(
  { market, old, latest }: ShiftCandidate,
  { sigmas, number }: { readonly sigmas: number; readonly number: number },
): NewEvent {
  return {
    type: "price_shift",
    key: shiftKey(market, Math.floor(latest.at / HOUR_MS), number),
    occurredAt: Math.round(latest.at),
    ...marketOf(market),
    payload: {
      ...describe(market),
      old_yes: old.yesPrice,
      new_yes: latest.yesPrice,
      change_pct: old.yesPrice === 0 ? null : toHundredths(100 * (latest.yesPrice / old.yesPrice - 1)),
      window_seconds: Math.max(0, Math.round((latest.at - old.at) / 1_000)),
      z_score: toHundredths(sigmas),
    },
  };
}

/**
 * @param figures.percentile  percentage of the market's trades that are smaller, in [0, 100]; null if unknown
 * @param figures.share  share of the 24-hour volume, in (0, 1]; null if unknown
 */
export function createWhaleEvent(
  { market, trades, executedAt, side, price, usd }: WhaleCandidate,
  { percentile, share }: { readonly percentile: number | null; readonly share: number | null },
): NewEvent {
  const { venue, marketId } = market.listing;
  // A venue's trade id can have any length and any characters.
  const trade = createHash("sha256")
    .update(trades[0]?.tradeId ?? "")
    .digest("base64url");
  return {
    type: "whale_alert",
    key: `whale_alert/${trade}/${venue}/${marketId}`,
    occurredAt: Math.round(executedAt),
    ...marketOf(market),
    payload: {
      ...describe(market),
      side,
      price: Math.round(price * 1e6) / 1e6,
      flow: toHundredths(usd),
      size_percentile: percentile === null ? null : toHundredths(percentile),
      share_of_volume_24h: share === null ? null : Math.round(share * 1e4) / 1e4,
    },
  };
}

const toHundredths = (value: number) => Math.round(value * 100) / 100;

const marketOf = ({ listing: { venue, marketId } }: BoardMarket) => ({ venue, marketId });

const describe = ({ listing: { venue, marketId, title } }: BoardMarket) => ({
  platform: venue,
  market_id: marketId,
  title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(),
});
