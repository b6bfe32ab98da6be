/**
 * Limitless Exchange: order-book markets and AMMs on Base, settled in USDC. Public data needs no key. `README.md` tells
 * which endpoints are used and what is odd about them.
 */
import type { MarketListing } from "../../domain/market.ts";
import { parseDecimal } from "../../domain/price.ts";
import type { Trade } from "../../domain/trade.ts";
import type { SocketIoOut } from "../../ports/socket-io-out.ts";
import type { ListingPage, VenueAdapter, VenueProfile } from "../../ports/venue.ts";
import { idsOf, walkPages } from "../shared/page-walk.ts";
import type { VenuePorts } from "../shared/venue-ports.ts";
import { badBody, createLimitlessClient, FEED_ROWS_MIN, LIST_ROWS_MAX, TAPE_ROWS_MAX } from "./client.ts";
import { createMarketFetcher } from "./fetch-markets.ts";
import { parseBook } from "./parse-book.ts";
import { parseHistory } from "./parse-history.ts";
import { parseRows } from "./parse-market.ts";
import { parseFeed, parseTape, type TradePage } from "./parse-trades.ts";
import { openLimitlessStream } from "./stream.ts";
import { detectLimitlessDrift, isActivePage, isBook, isTapePage } from "./wire.ts";

export const LIMITLESS_LIVE_URLS = {
  restUrl: "https://api.limitless.exchange",
  wsUrl: "wss://ws.limitless.exchange",
} as const;

export type LimitlessOptions = VenuePorts & {
  readonly restUrl: string;
  readonly wsUrl: string;
  readonly socketIo: SocketIoOut;
};

/** 100,000 rows; the venue has a few hundred. */
const LIST_PAGES_MAX = 4_000;
const TAPE_PAGES_MAX = 20;
const HISTORY_STEP_MS = 3_600_000;

const PROFILE: VenueProfile = {
  sweepPauseMs: 15_000,
  activePollMs: null,
  streamMarketsMax: 1_000,
  staleAfterMs: 90_000,
  volumeFromTrades: true,
};

export function createLimitlessVenue(options: LimitlessOptions): VenueAdapter {
  const { id, drop } = options;
  const watch = detectLimitlessDrift(options.drift);
  const client = createLimitlessClient(options, options.restUrl);
  const fetcher = createMarketFetcher({ client, clock: options.clock, venue: id, drop, watch });

  async function* listOpenMarkets(signal: AbortSignal): AsyncGenerator<ListingPage> {
    const walk = walkPages({
      fetch: async (cursor) => {
        const number = cursor === null ? 1 : Number(cursor);
        const { json, requestedAt, receivedAt } = await client.listActive(number, signal);
        if (!watch.page.check(json, isActivePage)) throw badBody("a page of markets");
        return { number, rows: json.data, total: parseDecimal(json.totalMarketsCount), requestedAt, receivedAt };
      },
      nextOf({ number, rows, total }) {
        const isLast = total === null ? rows.length < LIST_ROWS_MAX : number * LIST_ROWS_MAX >= total;
        return isLast || rows.length === 0 ? null : String(number + 1);
      },
      idsOf: ({ rows }) => idsOf(rows, "slug"),
      rowsOf: ({ rows }) => rows.length,
      totalOf: ({ total }) => total,
      ahead: true,
      pagesMax: LIST_PAGES_MAX,
      drop,
    });
    for await (const { page, cut } of walk) {
      const { rows, total, requestedAt, receivedAt } = page;
      const parsed = parseRows(rows, { venue: id, receivedAt, drop, watch });
      yield { ...parsed, totalRows: total, requestedAt, ...(cut === null ? {} : { incompleteReason: cut }) };
    }
  }

  /** Newest first until `sinceMs`, `limit` trades, or the tape's end; rows seen twice because pages moved count once. */
  const collectTrades = async (
    fetchPage: (page: number) => Promise<TradePage | null>,
    rowsPerPage: number,
    sinceMs: number,
    limit: number,
  ): Promise<readonly Trade[]> => {
    const found = new Map<string, Trade>();
    for (let page = 1; page <= TAPE_PAGES_MAX; page++) {
      const answer = await fetchPage(page);
      if (answer === null) break;
      for (const trade of answer.trades) found.set(trade.tradeId, trade);
      const oldest = Math.min(...answer.trades.map((trade) => trade.executedAt));
      if (answer.rowCount < rowsPerPage || oldest < sinceMs || found.size >= limit) break;
    }
    return [...found.values()]
      .filter((trade) => trade.executedAt >= sinceMs)
      .sort((a, b) => b.executedAt - a.executedAt)
      .slice(0, limit);
  };

  return {
    id,
    playMoney: options.playMoney,
    profile: PROFILE,
    listOpenMarkets,
    getMarkets: fetcher.getMarkets,
    findMarket: fetcher.findMarket,

    async getBook(listing, signal) {
      if (isAmm(listing) || listing.status === "finalized") return null;
      const answer = await client.findBook(slugOf(listing), signal);
      if (answer === null) return null;
      if (!watch.book.check(answer.json, isBook)) throw badBody("an order book");
      return parseBook(answer.json, { eventAt: null, receivedAt: answer.receivedAt }, drop);
    },

    listTrades(listing, sinceMs, limit, signal) {
      if (isAmm(listing)) {
        const fetchFeed = async (page: number) => {
          const answer = await client.listFeed(listing.marketId, page, signal);
          return answer === null ? null : parseFeed(answer.json, { drop, watch });
        };
        return collectTrades(fetchFeed, FEED_ROWS_MIN, sinceMs, limit);
      }
      const fetchTape = async (page: number) => {
        const answer = await client.listTape(slugOf(listing), page, signal);
        if (answer === null) return null;
        if (!isTapePage(answer.json)) throw badBody("a page of trades");
        return parseTape(answer.json.events, listing.venueKeys.noToken ?? null, { drop, watch });
      };
      return collectTrades(fetchTape, TAPE_ROWS_MAX, sinceMs, limit);
    },

    async getHistory(listing, range, signal) {
      const answer = await client.findHistory(slugOf(listing), range, signal);
      if (answer === null) return [];
      const titles = [listing.outcomeLabel, listing.title].filter((title) => title !== null);
      const { fromMs, toMs } = range;
      return parseHistory(answer.json, { fromMs, toMs, stepMs: HISTORY_STEP_MS, titles }, { drop, watch });
    },

    openStream: (handlers) =>
      openLimitlessStream(
        {
          socketIo: options.socketIo,
          wsUrl: options.wsUrl,
          marketsMax: PROFILE.streamMarketsMax,
          log: options.log,
          clock: options.clock,
          drop,
          watch,
        },
        handlers,
      ),
  };
}

function isAmm(listing: MarketListing): boolean {
  return listing.venueKeys.kind === "amm";
}

function slugOf(listing: MarketListing): string {
  return listing.venueKeys.slug ?? listing.marketId;
}
