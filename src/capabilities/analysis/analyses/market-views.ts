import { type BoardMarket, eventSlug, findIncompleteSetReason, type MarketBoard } from "../../../board/index.ts";
import { categoryOf } from "../../../domain/category.ts";
import { validCloseTime } from "../../../domain/close-time.ts";
import type { EventListing, VenueId } from "../../../domain/market.ts";
import type { OrderBook } from "../../../domain/order-book.ts";
import type { PricePoint } from "../../../domain/trade.ts";
import {
  type ConsensusView,
  type EventView,
  isBound,
  type LegView,
  type MarketView,
  type PeerView,
  positiveSpreadOf,
  type QuotePoint,
  type TradePoint,
} from "../../../engine/index.ts";
import { findMarketLadders } from "../../../matching/index.ts";
import type { MatchedMarket } from "../../markets/matching/index.ts";
import { findEventDeadline } from "../../markets/resolution/index.ts";

/** Maximum number of markets of an event to compare. Reading more would take longer than the analysis. */
export const EVENT_LEGS_MAX = 200;
const PEERS_MAX = 10;

/** The properties of a venue that the engine uses. */
export interface VenueTraits {
  /** Name of the adapter; null if unknown. */
  readonly adapter: string | null;
  readonly isPlayMoney: boolean;
}

export interface MarketViewPorts {
  readonly board: Pick<MarketBoard, "findEvent" | "marketsOfEvent">;
  readonly traitsOf: (venue: VenueId) => VenueTraits;
  readonly equalMarketsOf: (market: BoardMarket) => readonly MatchedMarket[];
  /** A number that changes before `equalMarketsOf` returns other markets than before. */
  readonly pairsRevision: () => number;
  /** The order book of the market's stream; null without a stream. */
  readonly trackedBookOf: (market: BoardMarket) => Promise<OrderBook | null>;
  /** Stored prices up to `asOf`, oldest first. */
  readonly readPrices: (marketKey: number, asOf: number) => Promise<readonly PricePoint[]>;
  /** Stored trades of the last day up to `asOf`, oldest first. */
  readonly readTrades: (marketKey: number, asOf: number) => Promise<readonly TradePoint[]>;
  /** The robust consensus of reported trades up to `asOf`; null if there is none. */
  readonly readConsensus: (venue: VenueId, marketId: string, asOf: number) => Promise<ConsensusView | null>;
}

export type MarketViews = ReturnType<typeof createMarketViews>;

export function createMarketViews(ports: MarketViewPorts) {
  const { board, traitsOf } = ports;
  const views = {
    traitsOf,

    equalMarketsOf: ports.equalMarketsOf,
    pairsRevision: ports.pairsRevision,

    /** Markets with the same question at other venues, with their current prices. */
    peersOf: listPeers,

    /**
     * @param asOf  Unix milliseconds; at most the current time
     * @throws AppError `store_unavailable`
     */
    async viewOf(market: BoardMarket, asOf: number): Promise<MarketView> {
      const { venue, marketId } = market.listing;
      const { storeKey } = market;
      const [book, prices, trades, consensus] = await Promise.all([
        ports.trackedBookOf(market),
        storeKey === null ? [] : ports.readPrices(storeKey, asOf),
        storeKey === null ? [] : ports.readTrades(storeKey, asOf),
        ports.readConsensus(venue, marketId, asOf),
      ]);
      return { ...views.currentViewOf(market, asOf), prices, book: viewBook(book, asOf), trades, consensus };
    },

    /** The view of what the board has: without order book, price history, trades and consensus. */
    currentViewOf(market: BoardMarket, asOf: number): MarketView {
      const { listing } = market;
      const { venue, marketId, eventId } = listing;
      const event = eventId === null ? null : board.findEvent(eventSlug(venue, eventId));
      const { adapter, isPlayMoney } = traitsOf(venue);
      return {
        asOf,
        venue,
        adapter,
        marketId,
        title: listing.title,
        category: categoryOf(listing.category),
        kind: isPlayMoney ? "play_money" : "money",
        openAt: listing.openAt,
        closeAt: validCloseTime(listing, asOf),
        deadlineAt: findEventDeadline(listing, event?.listing.title ?? null, asOf),
        takerFee: listing.takerFee,
        quote: toQuoteView(market, asOf),
        prices: [],
        book: null,
        trades: [],
        activity: toActivityView(market, asOf),
        peers: listPeers(market, asOf),
        event: event === null ? null : viewEvent(event.slug, event.listing, marketId, asOf),
        consensus: null,
        research: null,
      };
    },
  };
  return views;

  function listPeers(market: BoardMarket, asOf: number): PeerView[] {
    return ports
      .equalMarketsOf(market)
      .slice(0, PEERS_MAX)
      .flatMap(({ market: peer, isInverse, isPlayMoney, confidence }): PeerView[] => {
        const { listing, quote, activity, yesPrice, updatedAt } = peer;
        if (yesPrice === null || listing.status !== "active") return [];
        return [
          {
            venue: listing.venue,
            adapter: traitsOf(listing.venue).adapter,
            marketId: listing.marketId,
            isInverse,
            matchConfidence: confidence,
            kind: isPlayMoney ? "play_money" : "money",
            at: confirmedBy(asOf, updatedAt),
            yesPrice,
            spread: positiveSpreadOf(quote),
            liquidityUsd: activity.liquidityUsd,
            volume24hUsd: activity.volume24hUsd,
          },
        ];
      });
  }

  function viewEvent(slug: string, event: EventListing, marketId: string, asOf: number): EventView | null {
    const markets = board.marketsOfEvent(slug);
    if (markets.length < 2 || markets.length > EVENT_LEGS_MAX) return null;
    const isOpen = ({ listing, yesPrice }: BoardMarket) => listing.status === "active" && yesPrice !== null;
    const open = markets.filter(isOpen);
    // A one-sided quote (`isBound`) is no evidence about the other markets.
    const isLeg = (market: BoardMarket) =>
      isOpen(market) && (market.listing.marketId === marketId || !isBound(market.quote));
    const ladder = event.mutuallyExclusive
      ? undefined
      : findMarketLadders(open).find((rungs) => rungs.some(({ listing }) => listing.marketId === marketId));
    return {
      isExclusive: event.mutuallyExclusive,
      isExhaustive: findIncompleteSetReason(event, markets, isLeg) === null,
      legs: markets.filter(isLeg).map((market) => toLeg(market, asOf)),
      ladder: ladder?.map(({ listing }) => listing.marketId) ?? null,
    };
  }
}

export function toQuoteView({ quote, updatedAt }: BoardMarket, asOf: number): QuotePoint {
  const { bid, ask, bidSize, askSize, lastPrice, indicativePrice } = quote;
  return { at: confirmedBy(asOf, updatedAt), bid, ask, bidSize, askSize, lastPrice, indicativePrice };
}

export function toActivityView(
  { activity, updatedAt }: BoardMarket,
  asOf: number,
): NonNullable<MarketView["activity"]> {
  const { volume24hUsd, liquidityUsd } = activity;
  return { at: confirmedBy(asOf, updatedAt), volume24hUsd, liquidityUsd };
}

function viewBook(book: OrderBook | null, asOf: number): MarketView["book"] {
  return book === null ? null : { at: confirmedBy(asOf, book.receivedAt), bids: book.bids, asks: book.asks };
}

function toLeg({ listing, quote, yesPrice, updatedAt }: BoardMarket, asOf: number): LegView {
  return {
    marketId: listing.marketId,
    label: listing.outcomeLabel ?? listing.title,
    at: confirmedBy(asOf, updatedAt),
    yesPrice: yesPrice ?? 0,
    spread: positiveSpreadOf(quote),
  };
}

/** Limits a time to `asOf`, because a venue's clock can be seconds ahead of ours. */
const confirmedBy = (asOf: number, updatedAt: number): number => Math.min(asOf, updatedAt);
