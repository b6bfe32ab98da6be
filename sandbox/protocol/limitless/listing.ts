import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup } from "./ids.ts";
import { automationType, isRound, presentGroup, presentMarket } from "./market-json.ts";

export const SORTS = ["lp_rewards", "ending_soon", "newest", "high_value", "liquidity"] as const;
export type Sort = (typeof SORTS)[number];

/**
 * Events of the active list: groups and single markets that are not resolved. Rounds leave the list when trading ends,
 * all other events when they resolve.
 */
export function activeEvents(context: ExchangeContext, now: number): ListedEvent[] {
  const endsAt = ({ event, closeAt, determineAt, finalizeAt }: ListedMarket) =>
    isRound(event) ? Math.min(closeAt, determineAt) : finalizeAt;
  return context.world
    .events("limitless", now)
    .filter(({ markets }) => markets.some((market) => now >= market.openAt && now < endsAt(market)));
}

function tradeType(event: ListedEvent): string {
  if (isGroup(event)) return "group";
  return event.markets[0]?.mechanism ?? "clob";
}

/** Whether the event has this trade type and automation type; null matches every event. */
export function matches(
  event: ListedEvent,
  filter: { readonly tradeType: string | null; readonly automationType: string | null },
): boolean {
  return (
    (filter.tradeType === null || tradeType(event) === filter.tradeType) &&
    (filter.automationType === null || automationType(event) === filter.automationType)
  );
}

/** A sorted copy. Volume and liquidity are read once per event, and only for the orders that need them. */
export function sortEvents(
  context: ExchangeContext,
  events: readonly ListedEvent[],
  sort: Sort,
  now: number,
): ListedEvent[] {
  const sortKey = (event: ListedEvent): number => {
    if (sort === "ending_soon") return event.closeAt;
    if (sort === "newest") return -event.openAt;
    if (sort === "lp_rewards") return -event.markets.filter((market) => market.mechanism === "clob").length;
    return -event.markets.reduce((sum, market) => {
      const { volumeUsd, liquidityUsd } = context.world.activity(market, now);
      return sum + ((sort === "liquidity" ? liquidityUsd : volumeUsd) ?? 0);
    }, 0);
  };
  return events
    .map((event) => ({ event, key: sortKey(event) }))
    .sort((a, b) => a.key - b.key || b.event.index - a.event.index)
    .map((entry) => entry.event);
}

/** A group is sent as a container with nested children, a single market as the market. */
export function presentRow(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const [only] = event.markets;
  return isGroup(event) || only === undefined ? presentGroup(context, event, now) : presentMarket(context, only, now);
}
