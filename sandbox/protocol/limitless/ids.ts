import { hash } from "node:crypto";
import { cacheByObject } from "../../../src/lib/cache-by-object.ts";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";

/** Maximum length of a slug without its suffix. Common routers allow 100 characters in a path parameter. */
const SLUG_TEXT_LENGTH_MAX = 80;
/** Minimum slug suffix: a realistic creation time in Unix milliseconds. Suffixes differ by SLUG_SUFFIX_STEP. */
const SLUG_SUFFIX_MIN = 1_760_000_000_000;
const SLUG_SUFFIX_STEP = 1009;

const ADDRESS_HEX_DIGITS = 40;

/** Returns the lower-case ASCII words of a text joined by dashes, or "market" if the text has no such words. */
export function slugify(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "" && word.length <= SLUG_TEXT_LENGTH_MAX);
  let slug = "";
  for (const word of words) {
    const longerSlug = slug === "" ? word : `${slug}-${word}`;
    if (longerSlug.length > SLUG_TEXT_LENGTH_MAX) break;
    slug = longerSlug;
  }
  return slug === "" ? "market" : slug;
}

/** Returns a unique slug suffix in the format of the venue, which appends the creation time in Unix milliseconds. */
function slugSuffixOf(index: number, isGroup: boolean): number {
  return SLUG_SUFFIX_MIN + (2 * index + (isGroup ? 1 : 0)) * SLUG_SUFFIX_STEP;
}

const hashHex = (kind: string, index: number): string => hash("sha256", `limitless:${kind}:${index}`, "hex");

/** Returns whether an event is sent as a group. An event with one market is sent as that market. */
export function isGroup(event: ListedEvent): boolean {
  if (event.recorded !== undefined) return event.recorded.eventId !== null;
  return event.markets.length > 1;
}

export const limitlessSlug = cacheByObject((market: ListedMarket): string => {
  if (market.recorded !== undefined) return market.recorded.keys.slug ?? market.recorded.marketId;
  const text = isGroup(market.event) ? market.label : market.question;
  return `${slugify(text)}-${slugSuffixOf(market.index, false)}`;
});

/** Returns the slug of the group, or of the only market if the event is not a group. */
export function limitlessEventSlug(event: ListedEvent): string {
  if (event.recorded !== undefined && event.recorded.eventId !== null) return event.recorded.eventId;
  const [onlyMarket] = event.markets;
  if (!isGroup(event) && onlyMarket !== undefined) return limitlessSlug(onlyMarket);
  return `${slugify(event.title)}-${slugSuffixOf(event.index, true)}`;
}

/** Contract address of an AMM market. */
export function limitlessAddress(market: ListedMarket): string {
  if (market.recorded !== undefined && market.mechanism === "amm") return market.recorded.marketId;
  return `0x${hashHex("address", market.index).slice(0, ADDRESS_HEX_DIGITS)}`;
}

/** Returns the id that clients use for a market: the slug of an order-book market, the contract address of an AMM. */
export function limitlessMarketId(market: ListedMarket): string {
  return market.mechanism === "amm" ? limitlessAddress(market) : limitlessSlug(market);
}

/** Token ids: 256-bit numbers in decimal notation. */
export const limitlessTokens = cacheByObject((market: ListedMarket): { readonly yes: string; readonly no: string } => {
  const { yesToken, noToken } = market.recorded?.keys ?? {};
  if (yesToken !== undefined && noToken !== undefined) return { yes: yesToken, no: noToken };
  return {
    yes: BigInt(`0x${hashHex("yes", market.index)}`).toString(),
    no: BigInt(`0x${hashHex("no", market.index)}`).toString(),
  };
});

export function conditionIdOf(market: ListedMarket): string {
  return market.recorded?.keys.conditionId ?? `0x${hashHex("condition", market.index)}`;
}

export const negRiskMarketIdOf = (event: ListedEvent): string => `0x${hashHex("neg-risk", event.index)}`;

export const negRiskRequestIdOf = (market: ListedMarket): string => `0x${hashHex("neg-risk-request", market.index)}`;

/** Returns the hash of the transaction that settled a trade. */
export const transactionHashOf = (tradeId: string): string => `0x${hash("sha256", `limitless:tx:${tradeId}`, "hex")}`;

export const numericGroupIdOf = (event: ListedEvent): number => 390_001 + 2 * event.index;
