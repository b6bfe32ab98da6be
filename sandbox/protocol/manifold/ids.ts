import type { ListedEvent, ListedMarket } from "../../world/types.ts";

const BASE62_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const UINT32_RANGE = 2 ** 32;
/** Odd, hence invertible modulo 2^32: different indices have different ids. */
const MULTIPLIER = 0x9e3779b1;
const MULTIPLIER_INVERSE = 0x0e8b2f51;
const INDEX_DIGITS = 6;
const SLUG_LENGTH_MAX = 35;

function encode(value: number, length: number): string {
  let rest = value;
  let text = "";
  for (let position = 0; position < length; position++) {
    text = BASE62_DIGITS[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function decode(text: string): number | null {
  let value = 0;
  for (const digit of text) {
    const digitValue = BASE62_DIGITS.indexOf(digit);
    if (digitValue < 0) return null;
    value = value * 62 + digitValue;
  }
  return value;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

const scramble = (index: number): string => encode(Math.imul(index, MULTIPLIER) >>> 0, INDEX_DIGITS);

function unscramble(text: string): number | null {
  const value = decode(text);
  return value === null || value >= UINT32_RANGE ? null : Math.imul(value, MULTIPLIER_INVERSE) >>> 0;
}

export function manifoldContractId(event: ListedEvent): string {
  const { recorded } = event.markets[0] ?? {};
  if (recorded !== undefined) return recorded.keys.contractId ?? recorded.marketId.split(":", 1)[0] ?? "";
  return scramble(event.index) + encode(hash(event.title), 6);
}

export function manifoldAnswerId(market: ListedMarket): string {
  const { recorded } = market;
  if (recorded !== undefined) return recorded.keys.answerId ?? recorded.marketId.split(":")[1] ?? "";
  return scramble(market.index) + encode(hash(`answer ${market.label}`), 4);
}

/** The market id that an adapter is expected to report: the contract id, or `contractId:answerId` inside a group. */
export function manifoldMarketId(market: ListedMarket): string {
  if (market.recorded !== undefined) return market.recorded.marketId;
  const contractId = manifoldContractId(market.event);
  return market.event.markets.length === 1 ? contractId : `${contractId}:${manifoldAnswerId(market)}`;
}

export function manifoldSlug(event: ListedEvent): string {
  const words = slugify(event.title).slice(0, SLUG_LENGTH_MAX).replace(/-+$/, "");
  return `${words}-${scramble(event.index).toLowerCase()}${event.index.toString(36)}`;
}

export function slugify(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

export const userIdOf = (taker: number): string => `u${scramble(taker)}${encode(hash(`user ${taker}`), 4)}`;

export const userNameOf = (user: number): string => `Forecaster${user}`;
export const displayNameOf = (user: number): string => `Forecaster ${user}`;

/** Contents of a bet id: market, time in milliseconds, and position among the bets of that millisecond. */
export interface BetKey {
  readonly marketIndex: number;
  readonly at: number;
  readonly ordinal: number;
}

/** Bets per market and millisecond that have distinct ids. */
const ORDINALS = 100;

export function encodeBetId(key: BetKey): string {
  return scramble(key.marketIndex) + encode(key.at * ORDINALS + Math.min(key.ordinal, ORDINALS - 1), 8);
}

export function decodeBetId(id: string): BetKey | null {
  if (id.length !== INDEX_DIGITS + 8) return null;
  const marketIndex = unscramble(id.slice(0, INDEX_DIGITS));
  const rest = decode(id.slice(INDEX_DIGITS));
  if (marketIndex === null || rest === null) return null;
  return { marketIndex, at: Math.floor(rest / ORDINALS), ordinal: rest % ORDINALS };
}
