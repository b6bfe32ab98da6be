import type { ListedEvent } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup } from "./ids.ts";
import { automationType, isRound, presentGroup, presentMarket } from "./market-json.ts";

export const SORTS = ["lp_rewards", "ending_soon", "newest", "high_value", "liquidity"] as const;
export type Sort = (typeof SORTS)[number];

/**
 * Rows of the active list: groups and single markets that are not resolved. Rounds leave it as soon as trading ends,
 * everything else when it is resolved.
 */
export function activeRows(context: ExchangeContext, now: number): ListedEvent[] {
  return context.world.events("limitless", now).filter((event) => isActive(event, now));
}

function isActive(event: ListedEvent, now: number): boolean {
  return event.markets.some((market) => {
    if (now < market.openAt) return false;
    return now < (isRound(event) ? Math.min(market.closeAt, market.determineAt) : market.finalizeAt);
  });
}

function tradeType(event: ListedEvent): string {
  if (isGroup(event)) return "group";
  return event.markets[0]?.mechanism ?? "clob";
}

export interface RowFilter {
  readonly tradeType: string | null;
  readonly automationType: string | null;
}

export function matches(event: ListedEvent, filter: RowFilter): boolean {
  return (
    (filter.tradeType === null || tradeType(event) === filter.tradeType) &&
    (filter.automationType === null || automationType(event) === filter.automationType)
  );
}

/** Sorted copy; figures are looked up once per row and only for the orders that need them. */
export function sorted(context: ExchangeContext, rows: readonly ListedEvent[], sort: Sort, now: number): ListedEvent[] {
  const keyOf = (event: ListedEvent): number => {
    if (sort === "ending_soon") return event.closeAt;
    if (sort === "newest") return -event.openAt;
    if (sort === "lp_rewards") return -event.markets.filter((market) => market.mechanism === "clob").length;
    return -event.markets.reduce((sum, market) => {
      const { volumeUsd, liquidityUsd } = context.world.activity(market, now);
      return sum + ((sort === "liquidity" ? liquidityUsd : volumeUsd) ?? 0);
    }, 0);
  };
  return rows
    .map((event) => ({ event, key: keyOf(event) }))
    .sort((a, b) => a.key - b.key || b.event.index - a.event.index)
    .map((entry) => entry.event);
}

/** A row as the venue writes it: a container where there are several questions, else the question itself. */
export function presentRow(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const [only] = event.markets;
  return isGroup(event) || only === undefined ? presentGroup(context, event, now) : presentMarket(context, only, now);
}
