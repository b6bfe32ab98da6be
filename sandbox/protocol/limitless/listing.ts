import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup } from "./ids.ts";
import { automationTypeOf, isRound, presentGroup, presentMarket } from "./market-json.ts";

export const SORT_ORDERS = ["lp_rewards", "ending_soon", "newest", "high_value", "liquidity"] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/**
 * Returns the groups and single markets of the active list. A 15-minute round leaves the list when trading ends, all
 * other events leave it when they resolve.
 */
export function listActiveEvents(context: ExchangeContext, now: number): ListedEvent[] {
  const listedUntil = ({ event, closeAt, determineAt, finalizeAt }: ListedMarket) =>
    isRound(event) ? Math.min(closeAt, determineAt) : finalizeAt;
  return context.world
    .events("limitless", now)
    .filter(({ markets }) => markets.some((market) => now >= market.openAt && now < listedUntil(market)));
}

function tradeTypeOf(event: ListedEvent): string {
  if (isGroup(event)) return "group";
  return event.markets[0]?.mechanism ?? "clob";
}

/** Whether the event has the trade type and automation type of the filter; null in the filter matches every event. */
export function matchesFilter(
  event: ListedEvent,
  filter: { readonly tradeType: string | null; readonly automationType: string | null },
): boolean {
  return (
    (filter.tradeType === null || tradeTypeOf(event) === filter.tradeType) &&
    (filter.automationType === null || automationTypeOf(event) === filter.automationType)
  );
}

/** Returns a sorted copy. Volume and liquidity are read once per event, and only if the sort order uses them. */
export function sortEvents(
  context: ExchangeContext,
  events: readonly ListedEvent[],
  sortOrder: SortOrder,
  now: number,
): ListedEvent[] {
  const sortKeyOf = (event: ListedEvent): number => {
    if (sortOrder === "ending_soon") return event.closeAt;
    if (sortOrder === "newest") return -event.openAt;
    if (sortOrder === "lp_rewards") return -event.markets.filter((market) => market.mechanism === "clob").length;
    return -event.markets.reduce((sum, market) => {
      const { volumeUsd, liquidityUsd } = context.world.activity(market, now);
      return sum + ((sortOrder === "liquidity" ? liquidityUsd : volumeUsd) ?? 0);
    }, 0);
  };
  return events
    .map((event) => ({ event, key: sortKeyOf(event) }))
    .sort((a, b) => a.key - b.key || b.event.index - a.event.index)
    .map((entry) => entry.event);
}

/** Presents a row of a listing: a group with its child markets, or a single market. */
export function presentRow(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const [onlyMarket] = event.markets;
  return isGroup(event) || onlyMarket === undefined
    ? presentGroup(context, event, now)
    : presentMarket(context, onlyMarket, now);
}
