/**
 * Manifold Markets: play money, so a reference price and nothing else. An automated market maker without a book: the
 * quote is its probability. See README.md for endpoints and oddities.
 */
import { VenueError } from "../../domain/errors.ts";
import type { EventListing, MarketListing, MarketSnapshot } from "../../domain/market.ts";
import type { HistoryPoint, Trade } from "../../domain/trade.ts";
import type { ListingPage, VenueAdapter } from "../../ports/venue.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { ManifoldClient } from "./client.ts";
import { ContractCache } from "./contract-cache.ts";
import { type ManifoldKey, parseMarketId } from "./ids.ts";
import { listOpenContracts } from "./listing.ts";
import { parseContract } from "./parse-market.ts";
import { binPrices, parsePricePoints, parseTrade } from "./parse-trades.ts";
import { openManifoldStream } from "./stream.ts";
import { isBet } from "./wire.ts";
import { watchManifold } from "./wire-shapes.ts";

export { MANIFOLD_LIVE_URLS } from "./client.ts";

export type ManifoldVenueOptions = VenuePorts & {
  /** Base URL up to and including `/v0`. */
  readonly restUrl: string;
  readonly wsUrl: string;
};

const STREAM_MARKETS_MAX = 50_000;
const READERS_MAX = 6;
const BET_PAGE_ROWS = 1_000;
const BET_PAGES_MAX = 10;
const BET_POINTS_MAX = 50_000;
const HISTORY_POINTS_MAX = 10_000;
const BACKFILL_MS_MAX = 60 * 60_000;

/** Adapter for Manifold's public interface. */
export function createManifoldVenue(options: ManifoldVenueOptions): VenueAdapter {
  const { id: venue, clock, drop } = options;
  const watch = watchManifold(options.drift);
  const client = new ManifoldClient(options);
  const notes = new ContractCache();

  /** One contract in full, or null when the venue does not know it or it holds no yes-or-no questions. */
  async function readContract(contractId: string, signal: AbortSignal) {
    const answer = await client.contract(contractId, signal);
    if (answer === null) return null;
    const { row, receivedAt, requestedAt } = answer;
    if (typeof row !== "object" || row === null || Array.isArray(row)) {
      throw new VenueError("bad_body", "market answered something else than a contract", { retryable: true });
    }
    const parsed = parseContract(row, { venue, receivedAt, sumsToOne: null, note: null, drop, watch });
    // Another contract than the one asked for is no answer.
    if (parsed === null || parsed.contractId !== contractId) return null;
    notes.set(contractId, parsed.note);
    return { ...parsed, requestedAt };
  }

  async function getMarkets(
    listings: readonly Pick<MarketListing, "marketId">[],
    signal: AbortSignal,
  ): Promise<ListingPage> {
    const wanted = new Set(listings.map(({ marketId }) => marketId));
    const contractIds = new Set<string>();
    for (const marketId of wanted) {
      const key = parseMarketId(marketId);
      if (key !== null) contractIds.add(key.contractId);
    }
    const markets: MarketSnapshot[] = [];
    const events: EventListing[] = [];
    let requestedAt = clock.now();
    const queue = contractIds.values();
    const read = async () => {
      for (const contractId of queue) {
        const contract = await readContract(contractId, signal);
        if (contract === null) continue;
        requestedAt = Math.min(requestedAt, contract.requestedAt);
        const own = contract.markets.filter((market) => wanted.has(market.listing.marketId));
        markets.push(...own);
        if (contract.event !== null && own.length > 0) events.push(contract.event);
      }
    };
    await Promise.all(Array.from({ length: Math.min(READERS_MAX, contractIds.size) }, read));
    return { markets, events, totalRows: null, requestedAt };
  }

  return {
    id: venue,
    playMoney: options.playMoney,
    profile: {
      sweepPauseMs: 20_000,
      activePollMs: null,
      streamMarketsMax: STREAM_MARKETS_MAX,
      staleAfterMs: 120_000,
      volumeFromTrades: false,
    },

    listOpenMarkets: (signal) => listOpenContracts({ venue, client, notes, drop, watch }, signal),

    getMarkets,

    async findMarket(marketId, signal) {
      if (parseMarketId(marketId) === null) return null;
      const page = await getMarkets([{ marketId }], signal);
      return page.markets.length === 0 ? null : page;
    },

    /** Never: a market maker's curve is no book, and its open limit orders alone would look like a one-sided one. */
    async getBook() {
      return null;
    },

    async listTrades(listing, sinceMs, limit, signal): Promise<readonly Trade[]> {
      const key = keyOf(listing);
      const trades = new Map<string, Trade>();
      let beforeTime: number | undefined;
      for (let page = 0; page < BET_PAGES_MAX && trades.size < limit; page++) {
        const { rows } = await client.bets(
          {
            ...queryOf(key),
            // Both bounds are exclusive.
            afterTime: sinceMs - 1,
            ...(beforeTime === undefined ? {} : { beforeTime }),
            limit: BET_PAGE_ROWS,
          },
          signal,
        );
        let oldestAt: number | null = null;
        for (const row of rows) {
          if (!watch.bet.check(row, isBet) || row.contractId !== key.contractId) {
            drop("bad_bet");
            continue;
          }
          oldestAt = Math.min(oldestAt ?? row.createdTime, row.createdTime);
          if (key.answerId !== null && row.answerId !== key.answerId) continue;
          const trade = parseTrade(row, drop);
          if (trade !== null && trade.executedAt >= sinceMs) trades.set(trade.tradeId, trade);
        }
        if (rows.length < BET_PAGE_ROWS || oldestAt === null) break;
        // Bets of the oldest millisecond are read again, for its others may stand on the next page.
        if (beforeTime !== undefined && oldestAt + 1 >= beforeTime) {
          drop("page_loop");
          break;
        }
        beforeTime = oldestAt + 1;
      }
      return [...trades.values()].sort((a, b) => b.executedAt - a.executedAt).slice(0, limit);
    },

    async getHistory(listing, range, signal): Promise<readonly HistoryPoint[]> {
      const key = keyOf(listing);
      const bounds = { afterTime: range.fromMs - 1, beforeTime: range.toMs };
      const answer = await client.betPoints({ ...queryOf(key), ...bounds, limit: BET_POINTS_MAX }, signal);
      let points = parsePricePoints(answer.rows, key.answerId, { drop, watch });
      if (points.length === 0) {
        // Nobody bet in the range: the price is the one that the last bet before it left.
        const earlier = await client.bets({ ...queryOf(key), beforeTime: range.fromMs, limit: 1 }, signal);
        points = parsePricePoints(earlier.rows, key.answerId, { drop, watch });
      }
      return binPrices(points, range, HISTORY_POINTS_MAX);
    },

    openStream(handlers) {
      return openManifoldStream({
        ports: { ...options, watch },
        wsUrl: options.wsUrl,
        handlers,
        marketsMax: STREAM_MARKETS_MAX,
        fetchBetsSince: (sinceMs, signal) => {
          const afterTime = Math.max(sinceMs - 1, clock.now() - BACKFILL_MS_MAX);
          return client.bets({ afterTime, limit: BET_PAGE_ROWS }, signal);
        },
      });
    },
  };
}

function keyOf(listing: Pick<MarketListing, "marketId">): ManifoldKey {
  const key = parseMarketId(listing.marketId);
  if (key === null)
    throw new VenueError("client_error", "the market id is not one of this venue", { retryable: false });
  return key;
}

function queryOf(key: ManifoldKey): { contractId: string; answerId?: string } {
  return key.answerId === null
    ? { contractId: key.contractId }
    : { contractId: key.contractId, answerId: key.answerId };
}
