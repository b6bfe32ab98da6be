import { hash } from "node:crypto";
import type { ListedEvent, ListedMarket } from "../../world/types.ts";

/** Together with the suffix, slugs stay below the 100 characters that common routers allow in a path parameter. */
const SLUG_TEXT_MAX = 80;
/** Suffixes start at a plausible creation time and differ by a constant step. */
const FIRST_SUFFIX = 1_760_000_000_000;
const SUFFIX_STEP = 1009;

const ADDRESS_HEX_DIGITS = 40;

/** Lower-case ASCII words joined by dashes; "market" if the text contains none. */
export function slugify(text: string): string {
  const words = text
    .normalize("NFKD")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "" && word.length <= SLUG_TEXT_MAX);
  let slug = "";
  for (const word of words) {
    const longer = slug === "" ? word : `${slug}-${word}`;
    if (longer.length > SLUG_TEXT_MAX) break;
    slug = longer;
  }
  return slug === "" ? "market" : slug;
}

/** The venue appends the creation time in milliseconds; these suffixes look the same and are unique by construction. */
function suffix(index: number, isGroup: boolean): number {
  return FIRST_SUFFIX + (2 * index + (isGroup ? 1 : 0)) * SUFFIX_STEP;
}

function hex(kind: string, index: number): string {
  return hash("sha256", `limitless:${kind}:${index}`, "hex");
}

/** Whether an event is sent as a group container; an event with a single market is sent as that market. */
export function isGroup(event: ListedEvent): boolean {
  if (event.recorded !== undefined) return event.recorded.eventId !== null;
  return event.markets.length > 1;
}

export function limitlessSlug(market: ListedMarket): string {
  if (market.recorded !== undefined) return market.recorded.keys.slug ?? market.recorded.marketId;
  const text = isGroup(market.event) ? market.label : market.question;
  return `${slugify(text)}-${suffix(market.index, false)}`;
}

/** Slug of the group container, or of the only market if the event is not a group. */
export function limitlessEventSlug(event: ListedEvent): string {
  if (event.recorded !== undefined && event.recorded.eventId !== null) return event.recorded.eventId;
  const [only] = event.markets;
  if (!isGroup(event) && only !== undefined) return limitlessSlug(only);
  return `${slugify(event.title)}-${suffix(event.index, true)}`;
}

/** Contract address of an AMM market. */
export function limitlessAddress(market: ListedMarket): string {
  if (market.recorded !== undefined && market.mechanism === "amm") return market.recorded.marketId;
  return `0x${hex("address", market.index).slice(0, ADDRESS_HEX_DIGITS)}`;
}

/** The id by which clients key this market: slug for order-book markets, address for AMM markets. */
export function limitlessMarketId(market: ListedMarket): string {
  return market.mechanism === "amm" ? limitlessAddress(market) : limitlessSlug(market);
}

/** Token ids: 256-bit numbers in decimal notation. */
export function limitlessTokens(market: ListedMarket): { yes: string; no: string } {
  const { yesToken, noToken } = market.recorded?.keys ?? {};
  if (yesToken !== undefined && noToken !== undefined) return { yes: yesToken, no: noToken };
  return {
    yes: BigInt(`0x${hex("yes", market.index)}`).toString(),
    no: BigInt(`0x${hex("no", market.index)}`).toString(),
  };
}

export function conditionId(market: ListedMarket): string {
  return market.recorded?.keys.conditionId ?? `0x${hex("condition", market.index)}`;
}

export function negRiskMarketId(event: ListedEvent): string {
  return `0x${hex("neg-risk", event.index)}`;
}

export function negRiskRequestId(market: ListedMarket): string {
  return `0x${hex("neg-risk-request", market.index)}`;
}

/** Transaction hash under which a trade was settled. */
export function transactionHash(tradeId: string): string {
  return `0x${hash("sha256", `limitless:tx:${tradeId}`, "hex")}`;
}

export function numericMarketId(market: ListedMarket): number {
  return 390_000 + 2 * market.index;
}

export function numericGroupId(event: ListedEvent): number {
  return 390_001 + 2 * event.index;
}
