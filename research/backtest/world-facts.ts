/** Creates the facts that a recorder would write if it read every market of a simulated world at fixed intervals. */
import { type ListedEvent, type ListedMarket, SANDBOX_VENUES, type SimulatedWorld } from "../../sandbox/world/types.ts";
import type { MarketStatus } from "../../src/domain/market.ts";
import type { Fact } from "../../src/recording/index.ts";
import { venueOf } from "../engine/venues.ts";
import { quoteAt } from "../sandbox/world-views.ts";

/** Maximum number of levels per side of a recorded order book. */
const LEVELS_MAX = 10;

/**
 * Yields the facts of a period in time order. A fact equal to the previous fact of its kind and market is skipped.
 * `from` and `to` are inclusive.
 */
export function* worldFacts(
  world: SimulatedWorld,
  { from, to, stepMs }: { readonly from: number; readonly to: number; readonly stepMs: number },
): Generator<Fact> {
  const known = new Map<string, string>();
  const settled = new Set<ListedMarket>();
  const isNew = (key: string, fact: Fact): boolean => {
    const { at: _, ...content } = fact;
    const text = JSON.stringify(content);
    if (known.get(key) === text) return false;
    known.set(key, text);
    return true;
  };
  for (let at = from; at <= to; at += stepMs)
    for (const venue of SANDBOX_VENUES)
      for (const market of world.markets(venue, at)) {
        if (settled.has(market)) continue;
        for (const fact of marketFacts(world, market, at)) {
          const id = fact.kind === "event" ? `${market.event.index}` : `${market.index}`;
          if (isNew(`${fact.kind} ${id}`, fact)) yield fact;
        }
        if (world.lifecycle(market, at).phase === "finalized") settled.add(market);
      }
}

function* marketFacts(world: SimulatedWorld, market: ListedMarket, at: number): Generator<Fact> {
  const { venue, event } = market;
  const marketId = `${market.index}`;
  const { phase, outcome } = world.lifecycle(market, at);
  yield { at, venue, kind: "event", event: toEvent(event) };
  yield {
    at,
    venue,
    kind: "market",
    market: {
      marketId,
      eventId: `${event.index}`,
      title: market.question,
      url: null,
      category: event.category,
      outcomeLabel: event.markets.length > 1 ? market.label : null,
      status: statusOf(phase),
      paused: phase === "paused",
      outcome: outcome?.kind === "void" ? { kind: "void", value: null } : outcome,
      rules: market.rules,
      openAt: market.openAt,
      closeAt: market.closeAt,
      expectedResolutionAt: market.determineAt,
      resolvedAt: null,
      priceRanges: market.bands,
      minOrderContracts: null,
      contractStep: null,
      takerDelayMs: null,
      protocolVersion: null,
      takerFee: venueOf(venue).fee,
      venueKeys: {},
    },
  };
  const { bids, asks, lastPrice } = world.book(market, at);
  const { volume24hUsd, volumeUsd, liquidityUsd } = world.activity(market, at);
  const isAmm = market.mechanism === "amm";
  const isOpen = phase === "active";
  const { at: _, indicativePrice, ...best } = quoteAt(world, market, at);
  const quote = { ...best, indicativePrice: isOpen ? indicativePrice : null, eventAt: null };
  yield { at, venue, kind: "quote", marketId, quote };
  const amounts = { volume24hUsd, volumeTotalUsd: volumeUsd, liquidityUsd, openInterestUsd: null };
  yield { at, venue, kind: "activity", marketId, activity: amounts };
  if (isAmm || !isOpen) return;
  const levels = { bids: bids.slice(0, LEVELS_MAX), asks: asks.slice(0, LEVELS_MAX) };
  yield { at, venue, kind: "book", marketId, book: { ...levels, lastPrice, eventAt: null } };
}

const toEvent = (event: ListedEvent) => ({
  eventId: `${event.index}`,
  title: event.title,
  description: null,
  category: event.category,
  url: null,
  children: { total: event.markets.length, read: event.markets.length, leftOut: {} },
  mutuallyExclusive: event.mutuallyExclusive,
  exhaustive: event.exhaustive,
  featured: false,
  endAt: null,
});

function statusOf(phase: ReturnType<SimulatedWorld["lifecycle"]>["phase"]): MarketStatus {
  if (phase === "paused") return "active";
  return phase === "disputed" ? "determined" : phase;
}
