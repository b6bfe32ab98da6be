import { fnv1a } from "../../../src/lib/text-hash.ts";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";

const BASE62_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The multiplier is odd and therefore invertible modulo 2^32, so that different indexes have different ids. */
const SCRAMBLE_MULTIPLIER = 0x9e3779b1;
const INDEX_DIGITS = 6;
const SLUG_LENGTH_MAX = 35;
const CREATOR_COUNT = 97;

function encodeBase62(value: number, length: number): string {
  let rest = value;
  let text = "";
  for (let position = 0; position < length; position++) {
    text = BASE62_DIGITS[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

const encodeIndex = (index: number): string => encodeBase62(Math.imul(index, SCRAMBLE_MULTIPLIER) >>> 0, INDEX_DIGITS);

export function manifoldContractId(event: ListedEvent): string {
  const { recorded } = event.markets[0] ?? {};
  if (recorded !== undefined) return recorded.keys.contractId ?? recorded.marketId.split(":", 1)[0] ?? "";
  return encodeIndex(event.index) + encodeBase62(fnv1a(event.title), 6);
}

export function manifoldAnswerId(market: ListedMarket): string {
  const { recorded } = market;
  if (recorded !== undefined) return recorded.keys.answerId ?? recorded.marketId.split(":")[1] ?? "";
  return encodeIndex(market.index) + encodeBase62(fnv1a(`answer ${market.label}`), 4);
}

/** Returns the market id that the adapter uses: the contract id, or `contractId:answerId` for an answer. */
export function manifoldMarketId(market: ListedMarket): string {
  if (market.recorded !== undefined) return market.recorded.marketId;
  const contractId = manifoldContractId(market.event);
  return market.event.markets.length === 1 ? contractId : `${contractId}:${manifoldAnswerId(market)}`;
}

/** Returns the URL of a question, which contains the name of its creator and its slug. */
export function manifoldUrl(event: ListedEvent): string {
  const words = slugify(event.title).slice(0, SLUG_LENGTH_MAX).replace(/-+$/, "");
  const slug = `${words}-${encodeIndex(event.index).toLowerCase()}${event.index.toString(36)}`;
  return `https://manifold.markets/Forecaster${event.index % CREATOR_COUNT}/${slug}`;
}

export function slugify(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
}

/** The data encoded in a bet id: market index, Unix milliseconds, and position among the rows of that millisecond. */
export interface BetKey {
  readonly marketIndex: number;
  readonly at: number;
  readonly ordinal: number;
}

/** Maximum number of rows of one trade: the bet, a redemption, and the rows with zero shares of the other answers. */
export const BETS_PER_TRADE_MAX = 128;
/** Maximum number of rows with different ids per market and millisecond. */
const ORDINALS_PER_MILLISECOND = 1_024;
/** Number of base-62 digits, enough for the ordinals of every millisecond until the year 2300. */
const TIME_DIGITS = 9;

export function encodeBetId(key: BetKey): string {
  const ordinal = Math.min(key.ordinal, ORDINALS_PER_MILLISECOND - 1);
  return encodeIndex(key.marketIndex) + encodeBase62(key.at * ORDINALS_PER_MILLISECOND + ordinal, TIME_DIGITS);
}
