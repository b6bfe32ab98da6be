import { toIso } from "../../../src/lib/dates/iso-time.ts";
import type { ListedMarket, Phase } from "../../world/types.ts";
import { VenueError } from "../errors.ts";
import { kalshiTicker } from "./ids.ts";
import { presentMarket, presentOrderBook, updatedTimeOf } from "./market-json.ts";
import { selectPage } from "./paging.ts";
import { createBadRequestError, createNotFoundError, parseCursor, type Query, writeCursor } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";
import { findNewestTrades, presentTrade } from "./trades.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;
const BOOKS_MAX = 100;
const TRADES_MAX = 1_000;

/** Lifecycle phases by value of the `status` filter. The `status` field has other values. */
const PHASES_BY_STATUS = {
  unopened: ["pending"],
  open: ["active"],
  paused: ["paused"],
  closed: ["closed", "determined", "disputed"],
  settled: ["finalized"],
} as const satisfies Record<string, readonly Phase[]>;
type StatusFilter = keyof typeof PHASES_BY_STATUS;
const STATUS_FILTER_VALUES = Object.keys(PHASES_BY_STATUS) as StatusFilter[];

/**
 * Installs the routes of markets, books and trades. Markets settled and trades made before the cutoff are in the
 * historical tier only.
 */
export function installMarkets(get: Get, { context, catalogue, orderbookNeedsKey }: RestOptions): void {
  const { world, now } = context;

  const presentPage = (query: Query, accepts: (market: ListedMarket) => boolean) => {
    const limit = query.readLimit(100, MARKETS_MAX);
    const tickers = query.readList("tickers", TICKERS_MAX);
    const { page, cursor } = selectPage(
      tickers === null ? catalogue.listMarkets() : catalogue.findMarkets(tickers),
      query.readText("cursor"),
      limit,
      accepts,
    );
    return { markets: page.map((market) => presentMarket(world, market, now())), cursor };
  };
  const presentOne = (ticker: string, isHistorical: boolean) => {
    const market = catalogue.findMarket(ticker);
    if (market === null || catalogue.isHistorical(market) !== isHistorical) throw createNotFoundError();
    return { market: presentMarket(world, market, now()) };
  };

  get("/markets", ({ query }) => {
    const status = query.readChoice("status", STATUS_FILTER_VALUES);
    const updatedMin = query.readTime("min_updated_ts") ?? 0;
    if (updatedMin > 0 && status !== null)
      throw createBadRequestError("invalid parameters: min_updated_ts is incompatible with status");
    const phases: readonly Phase[] | null = status === null ? null : PHASES_BY_STATUS[status];
    return presentPage(query, (market) => {
      // Settlement is the last change. Checking it first is much faster than computing the phase of every settled
      // market.
      if (catalogue.isHistorical(market) || market.finalizeAt < updatedMin) return false;
      if (phases !== null) return phases.includes(world.lifecycle(market, now()).phase);
      return updatedMin === 0 || updatedTimeOf(market, world.lifecycle(market, now())) >= updatedMin;
    });
  });
  get("/historical/markets", ({ query }) => presentPage(query, (market) => catalogue.isHistorical(market)));
  get("/markets/:ticker", ({ path }) => presentOne(path("ticker"), false));
  get("/historical/markets/:ticker", ({ path }) => presentOne(path("ticker"), true));

  get("/historical/cutoff", () => {
    const cutoff = toIso(catalogue.computeCutoff());
    return { market_settled_ts: cutoff, trades_created_ts: cutoff };
  });

  const requireKey = (hasKey: boolean) => {
    if (orderbookNeedsKey && !hasKey) throw new VenueError(401, "authentication_error", "missing API key");
  };
  get("/markets/orderbooks", ({ query, hasKey }) => {
    requireKey(hasKey);
    const tickers = query.readList("tickers", BOOKS_MAX);
    if (tickers === null) throw createBadRequestError("invalid parameters: tickers is required");
    const orderbooks = catalogue.findMarkets(tickers).map((market) => ({
      ticker: kalshiTicker(market),
      orderbook_fp: presentOrderBook(world.book(market, now())),
    }));
    return { orderbooks };
  });
  get("/markets/:ticker/orderbook", ({ path, hasKey }) => {
    requireKey(hasKey);
    // The venue returns a book without levels, not a 404, for unknown tickers and for settled markets.
    const market = catalogue.findMarket(path("ticker"));
    return {
      orderbook_fp: market === null ? { yes_dollars: [], no_dollars: [] } : presentOrderBook(world.book(market, now())),
    };
  });

  const selectTradesPage = (query: Query, tier: { readonly from: number; readonly to: number }) => {
    const limit = query.readLimit(100, TRADES_MAX);
    const market = catalogue.findMarket(query.readText("ticker") ?? "");
    // An unknown ticker has no trades.
    if (market === null) return { trades: [], cursor: "" };
    const range = { from: Math.max(query.readTime("min_ts") ?? 0, tier.from), to: tier.to };
    const cursor = parseCursor(query.readText("cursor"), 2);
    const position = cursor === null ? null : { at: cursor[0] ?? 0, skip: cursor[1] ?? 0 };
    const found = findNewestTrades(world, market, range, limit + 1, position);
    const page = found.slice(0, limit);
    const lastAt = page.at(-1)?.at ?? 0;
    const skippedBefore = position?.at === lastAt ? position.skip : 0;
    const skip = skippedBefore + page.filter(({ at }) => at === lastAt).length;
    return {
      trades: page.map((trade) => presentTrade(market, trade)),
      cursor: found.length > limit ? writeCursor([lastAt, skip]) : "",
    };
  };
  get("/markets/trades", ({ query }) => selectTradesPage(query, { from: catalogue.computeCutoff(), to: now() + 1 }));
  get("/historical/trades", ({ query }) => selectTradesPage(query, { from: 0, to: catalogue.computeCutoff() }));
}
