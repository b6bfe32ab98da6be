import { hash } from "node:crypto";
import { cacheByObject } from "../../../src/lib/cache-by-object.ts";
import { SHORT_MONTH_NAMES } from "../../../src/lib/dates/month-names.ts";
import type { ListedEvent, ListedMarket, WorldTrade } from "../../world/types.ts";

const INITIALS_LENGTH_MAX = 6;

/** Series ticker, for example KXFED. */
export function kalshiSeriesTicker(event: ListedEvent): string {
  if (event.recorded !== undefined) {
    return event.markets[0]?.recorded?.keys.series ?? kalshiEventTicker(event).split("-", 1)[0] ?? "";
  }
  return `KX${event.series.toUpperCase().replaceAll(/[^A-Z0-9]/g, "")}`;
}

/** Event ticker: series, closing date, and the event's index for uniqueness. */
export const kalshiEventTicker = cacheByObject((event: ListedEvent): string => {
  if (event.recorded !== undefined) return event.recorded.eventId ?? event.markets[0]?.recorded?.marketId ?? "";
  const date = new Date(event.closeAt);
  const twoDigits = (value: number) => String(value).padStart(2, "0");
  const day = `${twoDigits(date.getUTCFullYear() % 100)}${SHORT_MONTH_NAMES[date.getUTCMonth()]?.toUpperCase()}${twoDigits(date.getUTCDate())}`;
  const time = event.isRound ? `${twoDigits(date.getUTCHours())}${twoDigits(date.getUTCMinutes())}` : "";
  return `${kalshiSeriesTicker(event)}-${day}${time}N${event.index.toString(36).toUpperCase()}`;
});

/**
 * Market ticker: the event ticker plus the strike or the initials of the outcome; only the event ticker if the event
 * has one market.
 */
export function kalshiTicker(market: ListedMarket): string {
  if (market.recorded !== undefined) return market.recorded.marketId;
  return marketTickersOf(market.event)[market.event.markets.indexOf(market)] ?? "";
}

const marketTickersOf = cacheByObject((event: ListedEvent): readonly string[] => {
  const eventTicker = kalshiEventTicker(event);
  if (event.markets.length === 1) return [eventTicker];
  const usedSuffixes = new Set<string>();
  return event.markets.map((market) => {
    let suffix = suffixOf(market);
    if (usedSuffixes.has(suffix)) suffix += String(market.position);
    usedSuffixes.add(suffix);
    return `${eventTicker}-${suffix}`;
  });
});

function suffixOf({ strike, label, position }: ListedMarket): string {
  if (strike !== null) {
    const { type, floor, cap } = strike;
    if (type === "between" && floor !== null && cap !== null) return `B${Number(((floor + cap) / 2).toFixed(6))}`;
    return `T${floor ?? cap ?? position}`;
  }
  const words = label.toUpperCase().match(/[A-Z0-9]+/g) ?? [];
  const first = words[0] ?? "";
  const initials = words.length > 1 ? words.map((word) => (/^\d/.test(word) ? word : word[0])).join("") : first;
  return initials.slice(0, INITIALS_LENGTH_MAX) || `P${position}`;
}

/** Derives an id in UUID format from `text`. */
function deriveUuid(text: string): string {
  const hex = hash("sha256", text, "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export const kalshiTradeId = (trade: WorldTrade): string => trade.recordedId ?? deriveUuid(trade.id);
