import type { ListedEvent, ListedMarket } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { isGroup } from "./ids.ts";
import { presentGroup, presentMarket } from "./market-json.ts";

/**
 * Returns the groups and single markets of the active list, newest first. A 15-minute round leaves the list when trading
 * ends, all other events leave it when they resolve.
 */
export function listActiveEvents(context: ExchangeContext, now: number): ListedEvent[] {
  const listedUntil = ({ event, closeAt, determineAt, finalizeAt }: ListedMarket) =>
    event.isRound ? Math.min(closeAt, determineAt) : finalizeAt;
  return context.world
    .events("limitless", now)
    .filter(({ markets }) => markets.some((market) => now >= market.openAt && now < listedUntil(market)))
    .sort((a, b) => b.openAt - a.openAt || b.index - a.index);
}

/** Presents a row of a listing: a group with its child markets, or a single market. */
export function presentRow(context: ExchangeContext, event: ListedEvent, now: number): Record<string, unknown> {
  const [onlyMarket] = event.markets;
  return isGroup(event) || onlyMarket === undefined
    ? presentGroup(context, event, now)
    : presentMarket(context, onlyMarket, now);
}
