import type { FastifyInstance } from "fastify";
import type { ListedEvent, ListedMarket, Phase } from "../../world/types.ts";
import type { ExchangeContext } from "../exchange.ts";
import { type Catalogue, roundSymbol } from "./catalogue.ts";
import { queryInteger, queryText, VenueHttpError } from "./http-errors.ts";
import { limitlessSlug } from "./ids.ts";
import { isRound, roundStartAt, strikeText } from "./market-json.ts";

const SLOTS = 3;
const SLOTS_MAX = 24;

const SETTLING: readonly Phase[] = ["closed", "determined", "disputed"];

/** Previous, present and next rounds: the active list shows only those that are open. */
export function installRoundRoutes(app: FastifyInstance, context: ExchangeContext, catalogue: Catalogue): void {
  const rounds = (isWanted: (event: ListedEvent) => boolean): ListedMarket[] =>
    context.world
      .events("limitless", context.now())
      .filter((event) => isRound(event) && isWanted(event))
      .flatMap((event) => event.markets)
      .sort((a, b) => a.closeAt - b.closeAt);

  const around = (markets: readonly ListedMarket[], at: number, before: number, after: number) => {
    const current = markets.findIndex((market) => market.closeAt > at);
    const middle = current === -1 ? markets.length : current;
    return markets.slice(Math.max(0, middle - before), middle + 1 + after);
  };

  app.get("/markets/timeline", async (request) => {
    const symbol = queryText(request, "symbol")?.toUpperCase() ?? null;
    const before = queryInteger(request, "before", { fallback: SLOTS, min: 0, max: SLOTS_MAX });
    const after = queryInteger(request, "after", { fallback: SLOTS, min: 0, max: SLOTS_MAX });
    const markets = rounds((event) => symbol === null || roundSymbol(event) === symbol);
    const now = context.now();
    return {
      symbol,
      frequency: "15min",
      slots: around(markets, now, before, after).map((market) => presentSlot(context, market, now)),
    };
  });

  app.get<{ Params: { slug: string } }>("/markets/:slug/timeline", async (request) => {
    const market = catalogue.findMarket(request.params.slug);
    if (market === null) throw new VenueHttpError(404, `Market ${request.params.slug} not found`);
    if (!isRound(market.event)) throw new VenueHttpError(400, "Market has no timeline");
    const before = queryInteger(request, "before", { fallback: SLOTS, min: 0, max: SLOTS_MAX });
    const after = queryInteger(request, "after", { fallback: SLOTS, min: 0, max: SLOTS_MAX });
    const markets = rounds((event) => event.series === market.event.series);
    const now = context.now();
    return {
      symbol: roundSymbol(market.event),
      frequency: "15min",
      slots: around(markets, market.closeAt - 1, before, after).map((slot) => presentSlot(context, slot, now)),
    };
  });
}

function presentSlot(context: ExchangeContext, market: ListedMarket, now: number): Record<string, unknown> {
  const { phase, outcome } = context.world.lifecycle(market, now);
  const startAt = roundStartAt(market);
  const state = slotState(phase, outcome?.kind === "void", now < startAt);
  const until = now < startAt ? startAt : market.closeAt;
  return {
    slotId: `${roundSymbol(market.event).toLowerCase()}-15min-${Math.floor(startAt / 1000)}`,
    slug: limitlessSlug(market),
    state,
    tradable: phase === "active",
    strikePrice: strikeText(market, now),
    startAt: new Date(startAt).toISOString(),
    endAt: new Date(market.closeAt).toISOString(),
    countdownSec: Math.max(0, Math.ceil((until - now) / 1000)),
  };
}

function slotState(phase: Phase, isVoid: boolean, isBefore: boolean): string {
  if (phase === "finalized") return isVoid ? "FAILED" : "SETTLED";
  if (SETTLING.includes(phase)) return "SETTLING";
  return isBefore ? "PRE_OPEN" : "OPEN";
}
