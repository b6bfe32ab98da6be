/** Creates the market views that the service would build for a simulated world. */

import { priceAt } from "../../sandbox/world/candles.ts";
import { isListed, type ListedMarket, type SimulatedWorld } from "../../sandbox/world/types.ts";
import type { EventView, LegView, MarketView, PeerView, PricePoint, QuotePoint } from "../../src/engine/index.ts";
import { DAY_MS, HOUR_MS } from "../../src/lib/durations.ts";
import { createEmptyView } from "../engine/views.ts";

/** Match confidence of a true pair: roughly the matcher's precision on simulated markets. */
const MATCH_CONFIDENCE = 0.98;
const TRADING_VENUES = ["kalshi", "polymarket", "limitless"] as const;

/** Returns the views of all open markets of the trading venues. Markets without a price are left out. */
export function viewOpenMarkets(world: SimulatedWorld, asOf: number) {
  const peers = listPeers(world, asOf);
  return TRADING_VENUES.flatMap((venue) => world.markets(venue, asOf)).flatMap((market) => {
    if (!isOpen(world, market, asOf) || priceAt(world, market, asOf) === null) return [];
    return [{ market, view: viewMarket(world, market, peers.get(market) ?? [], asOf) }];
  });
}

const isOpen = (world: SimulatedWorld, market: ListedMarket, asOf: number): boolean =>
  isListed(market, asOf) && world.lifecycle(market, asOf).phase === "active";

function viewMarket(world: SimulatedWorld, market: ListedMarket, peers: readonly PeerView[], asOf: number): MarketView {
  const activity = world.activity(market, asOf);
  return {
    ...createEmptyView(market.venue, `${market.index}`, asOf),
    title: market.question,
    openAt: market.openAt,
    closeAt: market.closeAt,
    takerFee: null,
    quote: quoteAt(world, market, asOf),
    prices: pricesUntil(world, market, asOf),
    trades: world
      .trades(market, asOf - DAY_MS, asOf + 1)
      .map(({ at, yesPrice, size, takerSide }) => ({ at, yesPrice, size, takerSide })),
    activity: { at: asOf, volume24hUsd: activity.volume24hUsd, liquidityUsd: activity.liquidityUsd },
    peers,
    event: viewEvent(world, market, asOf),
  };
}

/** Returns the best prices of a market. An automated market maker has only an indicative price. */
export function quoteAt(world: SimulatedWorld, market: ListedMarket, at: number): QuotePoint {
  const { bids, asks, lastPrice } = world.book(market, at);
  const isAmm = market.mechanism === "amm";
  const [bid, ask] = isAmm ? [] : [bids[0], asks[0]];
  return {
    at,
    bid: bid?.price ?? null,
    ask: ask?.price ?? null,
    bidSize: bid?.size ?? null,
    askSize: ask?.size ?? null,
    lastPrice: isAmm ? null : lastPrice,
    indicativePrice: isAmm ? world.probability(market, at) : null,
  };
}

/** Returns hourly prices of the last day and daily prices of the eight days before `asOf`. */
function pricesUntil(world: SimulatedWorld, market: ListedMarket, asOf: number): PricePoint[] {
  const ages = [...Array.from({ length: 8 }, (_, day) => (8 - day) * DAY_MS), ...hoursBefore(23)];
  return ages.flatMap((age): PricePoint[] => {
    const at = asOf - age;
    const yesPrice = at < market.openAt ? null : priceAt(world, market, at);
    return yesPrice === null ? [] : [{ at, yesPrice }];
  });
}

const hoursBefore = (count: number): number[] => Array.from({ length: count }, (_, hour) => (count - hour) * HOUR_MS);

function viewEvent(world: SimulatedWorld, { event, index }: ListedMarket, asOf: number): EventView | null {
  const open = event.markets.filter((market) => isOpen(world, market, asOf));
  if (open.length < 2) return null;
  return {
    isExclusive: event.mutuallyExclusive,
    isExhaustive: event.exhaustive && open.length === event.markets.length,
    legs: open.flatMap((market) => legAt(world, market, asOf)),
    ladder: event.ladder ? orderLadder(open, index) : null,
  };
}

function legAt(world: SimulatedWorld, market: ListedMarket, at: number): LegView[] {
  const yesPrice = priceAt(world, market, at);
  const { bids, asks } = world.book(market, at);
  const [bid, ask] = [bids[0]?.price, asks[0]?.price];
  const spread = market.mechanism === "amm" || bid === undefined || ask === undefined ? null : ask - bid;
  return yesPrice === null ? [] : [{ marketId: `${market.index}`, label: market.label, at, yesPrice, spread }];
}

/** Returns the market ids of a ladder: thresholds from most to least likely, deadlines from latest to earliest. */
function orderLadder(markets: readonly ListedMarket[], own: number): string[] | null {
  const type = markets.find(({ index }) => index === own)?.strike?.type ?? null;
  const rungs = markets.filter(({ strike }) => (strike?.type ?? null) === type);
  if (type === "between") return null;
  const keyOf = ({ strike, closeAt }: ListedMarket): number =>
    type === "greater" ? (strike?.floor ?? 0) : type === "less" ? -(strike?.cap ?? 0) : -closeAt;
  return rungs.toSorted((a, b) => keyOf(a) - keyOf(b)).map(({ index }) => `${index}`);
}

/** Maps each market to the open markets of other venues that have the same or the opposite resolution criterion. */
function listPeers(world: SimulatedWorld, asOf: number): Map<ListedMarket, PeerView[]> {
  const peers = new Map<ListedMarket, PeerView[]>();
  const add = (market: ListedMarket, peer: ListedMarket, isInverse: boolean) => {
    const view = isOpen(world, peer, asOf) ? viewPeer(world, peer, isInverse, asOf) : null;
    if (view !== null) peers.set(market, [...(peers.get(market) ?? []), view]);
  };
  for (const { a, b, relation } of world.pairs(asOf)) {
    if (relation !== "identical" && relation !== "inverse") continue;
    add(a, b, relation === "inverse");
    add(b, a, relation === "inverse");
  }
  return peers;
}

function viewPeer(world: SimulatedWorld, market: ListedMarket, isInverse: boolean, at: number): PeerView | null {
  const yesPrice = priceAt(world, market, at);
  if (yesPrice === null) return null;
  const isPlayMoney = market.venue === "manifold";
  const activity = world.activity(market, at);
  return {
    venue: market.venue,
    adapter: market.venue,
    marketId: `${market.index}`,
    isInverse,
    matchConfidence: MATCH_CONFIDENCE,
    kind: isPlayMoney ? "play_money" : "money",
    at,
    yesPrice,
    spread: legAt(world, market, at)[0]?.spread ?? null,
    liquidityUsd: isPlayMoney ? null : activity.liquidityUsd,
    volume24hUsd: isPlayMoney ? null : activity.volume24hUsd,
  };
}
