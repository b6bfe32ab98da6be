import { hash } from "node:crypto";
import { cacheByObject } from "../../../src/lib/cache-by-object.ts";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";

/**
 * Ids in the venue's formats, derived from the index and the text of a market. The index can be decoded from an id
 * without a look-up table: condition and token ids end with the index plus a mask, which is given by their first
 * digits.
 */
const INDEX_COUNT = 2 ** 40;
const INDEX_DIGITS = 10;
const GAMMA_MARKET_ID_BASE = 500_000;
const GAMMA_EVENT_ID_BASE = 20_000;
/** First id of "Other" markets, above the ids of all other markets. */
const OTHER_ID_BASE = 9_000_000_000;
const SLUG_TEXT_LENGTH_MAX = 80;
/** Number of markets per market with a condition id of 62 digits. */
const SHORT_CONDITION_INTERVAL = 16;

/** Position of an outcome token in the venue's arrays: 0 for YES, 1 for NO. */
export type TokenSide = 0 | 1;

export const sha256Hex = (text: string): string => hash("sha256", text, "hex");

/** Appends the masked index to `prefix`. */
function appendIndex(prefix: string, index: number): string {
  const masked = (index + Number.parseInt(prefix.slice(0, INDEX_DIGITS), 16)) % INDEX_COUNT;
  return prefix + masked.toString(16).padStart(INDEX_DIGITS, "0");
}

/** Inverse of `appendIndex`. */
function decodeIndex(id: string): number {
  const mask = Number.parseInt(id.slice(0, INDEX_DIGITS), 16);
  return (Number.parseInt(id.slice(-INDEX_DIGITS), 16) - mask + INDEX_COUNT) % INDEX_COUNT;
}

/** Returns the numeric Gamma id, which the service uses as the market id. */
export function polymarketMarketId(market: ListedMarket): string {
  return market.recorded?.marketId ?? String(GAMMA_MARKET_ID_BASE + market.index);
}

export function polymarketEventId(event: ListedEvent): string {
  return event.recorded?.eventId ?? String(GAMMA_EVENT_ID_BASE + event.index);
}

/** Returns the condition id: 0x and 64 or 62 hex digits. The venue uses both lengths. */
export const polymarketConditionId = cacheByObject((market: ListedMarket): string => {
  if (market.recorded?.keys.conditionId !== undefined) return market.recorded.keys.conditionId;
  const digits = market.index % SHORT_CONDITION_INTERVAL === 5 ? 62 : 64;
  const prefix = sha256Hex(`condition:${market.index}:${market.question}`).slice(0, digits - INDEX_DIGITS);
  return `0x${appendIndex(prefix, market.index)}`;
});

/** Returns the condition id in the 32-byte format of the Data API. */
export const dataConditionId = (market: ListedMarket): string => polymarketConditionId(market).padEnd(66, "0");

/** Returns whether the market uses protocol V2. Its condition id then has 31 bytes, its outcomes position ids. */
export const isProtocolV2 = (market: ListedMarket): boolean => polymarketConditionId(market).length === 64;

/** Returns the decimal ids of the YES token and the NO token. */
export const polymarketTokenIds = cacheByObject((market: ListedMarket): readonly [string, string] => {
  const { tokenYes, tokenNo } = market.recorded?.keys ?? {};
  if (tokenYes !== undefined && tokenNo !== undefined) return [tokenYes, tokenNo];
  return [tokenId(market, 0), tokenId(market, 1)];
});

function tokenId(market: ListedMarket, side: TokenSide): string {
  // The fixed first digit keeps the decimal length at 76 or 77 digits.
  const prefix = `6${sha256Hex(`token:${side}:${market.index}:${market.question}`).slice(0, 63 - INDEX_DIGITS)}`;
  return BigInt(`0x${appendIndex(prefix, market.index)}`).toString();
}

export function negRiskMarketId(event: ListedEvent): string {
  return `0x${sha256Hex(`neg-risk:${event.index}`).slice(0, 62)}00`;
}

export const otherMarketId = (event: ListedEvent): string => String(OTHER_ID_BASE + event.index);

function slugOf(text: string, index: number): string {
  const words = text
    .toLowerCase()
    .replaceAll("%", " percent")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_TEXT_LENGTH_MAX)
    .replaceAll(/^-+|-+$/g, "");
  return `${words}-${index}`;
}

export function polymarketMarketSlug(market: ListedMarket): string {
  if (market.recorded !== undefined) return market.recorded.keys.slug ?? "";
  return slugOf(market.question, market.index);
}

export function polymarketEventSlug(event: ListedEvent): string {
  if (event.recorded !== undefined) return slugOfUrl(event.recorded.url ?? event.markets[0]?.recorded?.url ?? null);
  return slugOf(event.title, event.index);
}

/** Returns the event slug in the URL of an event page, or "" if there is none. */
function slugOfUrl(url: string | null): string {
  const slug = /\/event\/([^/?#]+)/.exec(url ?? "")?.[1];
  return slug === undefined ? "" : decodeURIComponent(slug);
}

const POSITIVE_INTEGER_PATTERN = /^[1-9]\d{0,15}$/;

/** Returns the world index of a Gamma market id; null if the id is malformed. */
export function marketIndexOfId(id: string): number | null {
  return POSITIVE_INTEGER_PATTERN.test(id) ? Number(id) - GAMMA_MARKET_ID_BASE : null;
}

export function eventIndexOfId(id: string): number | null {
  return POSITIVE_INTEGER_PATTERN.test(id) ? Number(id) - GAMMA_EVENT_ID_BASE : null;
}

/** Decodes the world index from a condition id; null if malformed. The caller must compare the market's id. */
export function indexOfCondition(id: string): number | null {
  return /^0x[0-9a-f]{62}([0-9a-f]{2})?$/.test(id) ? decodeIndex(id.slice(2)) : null;
}

/** Decodes the world index from a token id; null if malformed. The caller must compare the market's id. */
export function indexOfToken(token: string): number | null {
  if (!/^[1-9]\d{70,77}$/.test(token)) return null;
  const hex = BigInt(token).toString(16);
  return hex.length === 64 ? decodeIndex(hex) : null;
}

/** Derives a stable numeric id for a tag or series. */
export function deriveNumericId(text: string): number {
  return 100_000 + (Number.parseInt(sha256Hex(text).slice(0, 8), 16) % 900_000_000);
}

/** Returns the wallet address of a simulated trader. */
export const walletOf = (trader: number | string): string => `0x${sha256Hex(`wallet:${trader}`).slice(0, 40)}`;
