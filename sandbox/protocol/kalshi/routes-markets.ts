import type { ListedMarket, Phase } from "../../world/types.ts";
import { kalshiEventTicker, kalshiSeriesTicker, kalshiTicker } from "./ids.ts";
import { closeTimeOf, presentMarket, presentOrderBook, updatedTimeOf } from "./market-json.ts";
import { selectPage } from "./paging.ts";
import { createBadRequestError, createNotFoundError, KalshiError, type Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;
const BOOKS_MAX = 100;
const BOOK_DEPTH_MAX = 100;

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

export function installMarkets(get: Get, { context, catalogue, orderbookNeedsKey }: RestOptions): void {
  const { world, now } = context;

  const findLiveMarket = (ticker: string): ListedMarket => {
    const market = catalogue.findMarket(ticker);
    if (market === null || catalogue.isHistorical(market)) throw createNotFoundError();
    return market;
  };
  const bookOf = (market: ListedMarket, depth: number) => presentOrderBook(world.book(market, now()), depth);
  const requireKey = (hasKey: boolean) => {
    if (orderbookNeedsKey && !hasKey) throw new KalshiError(401, "authentication_error", "missing API key");
  };

  get("/markets", ({ query }) => {
    const limit = query.readLimit(100, MARKETS_MAX);
    const accepts = createMarketFilter(query, (market) => {
      const lifecycle = world.lifecycle(market, now());
      const { phase } = lifecycle;
      return { phase, closeAt: closeTimeOf(world, market, phase), updatedAt: updatedTimeOf(market, lifecycle) };
    });
    const tickers = query.readList("tickers", TICKERS_MAX);
    const { page, cursor } = selectPage(
      tickers === null ? catalogue.listMarkets() : catalogue.findMarkets(tickers),
      query.readText("cursor"),
      limit,
      (market) => !catalogue.isHistorical(market) && accepts(market),
    );
    return { markets: page.map((market) => presentMarket(world, market, now())), cursor };
  });

  get("/markets/orderbooks", ({ query, hasKey }) => {
    requireKey(hasKey);
    const tickers = query.readList("tickers", BOOKS_MAX);
    if (tickers === null) throw createBadRequestError("invalid parameters: tickers is required");
    return {
      orderbooks: catalogue
        .findMarkets(tickers)
        .map((market) => ({ ticker: kalshiTicker(market), orderbook_fp: bookOf(market, 0) })),
    };
  });

  get("/markets/:ticker", ({ path }) => ({ market: presentMarket(world, findLiveMarket(path("ticker")), now()) }));

  get("/markets/:ticker/orderbook", ({ query, path, hasKey }) => {
    requireKey(hasKey);
    const depth = query.readInteger("depth") ?? 0;
    if (depth > BOOK_DEPTH_MAX)
      throw createBadRequestError(`invalid parameters: depth must be at most ${BOOK_DEPTH_MAX}`);
    // The venue returns a book without levels, not a 404, for unknown tickers and for settled markets.
    const market = catalogue.findMarket(path("ticker"));
    return { orderbook_fp: market === null ? { yes_dollars: [], no_dollars: [] } : bookOf(market, depth) };
  });
}

/**
 * Combines the filter parameters of the market list into one predicate.
 * @throws KalshiError (400) if the venue does not allow the combination of parameters
 */
function createMarketFilter(
  query: Query,
  lifecycleOf: (market: ListedMarket) => {
    readonly phase: Phase;
    readonly closeAt: number;
    readonly updatedAt: number;
  },
): (market: ListedMarket) => boolean {
  const status = query.readChoice("status", STATUS_FILTER_VALUES);
  const eventTicker = query.readText("event_ticker");
  const seriesTicker = query.readText("series_ticker");
  const mve = query.readChoice("mve_filter", ["only", "exclude"]);
  const parseRange = (name: string) => {
    const min = query.readTime(`min_${name}_ts`);
    const max = query.readTime(`max_${name}_ts`);
    return min === null && max === null ? null : { min: min ?? 0, max: max ?? Number.POSITIVE_INFINITY };
  };
  const created = parseRange("created");
  const close = parseRange("close");
  const settled = parseRange("settled");
  const updatedMin = query.readTime("min_updated_ts");
  const timeFilters = [created, close, settled, updatedMin].filter((filter) => filter !== null);
  if (timeFilters.length > 1)
    throw createBadRequestError("invalid parameters: timestamp filters are mutually exclusive");
  const requireStatus = (filter: unknown, name: string, allowed: readonly StatusFilter[]) => {
    if (filter !== null && status !== null && !allowed.includes(status)) {
      throw createBadRequestError(`invalid parameters: ${name} is incompatible with status ${status}`);
    }
  };
  requireStatus(created, "created_ts", ["unopened", "open"]);
  requireStatus(close, "close_ts", ["closed"]);
  requireStatus(settled, "settled_ts", ["settled"]);
  if (updatedMin !== null && (status !== null || eventTicker !== null || mve !== "exclude")) {
    throw createBadRequestError(
      "invalid parameters: min_updated_ts is incompatible with other filters but mve_filter=exclude",
    );
  }
  const phases: readonly Phase[] | null = status === null ? null : PHASES_BY_STATUS[status];
  return (market) => {
    // Multivariate events are not simulated.
    if (mve === "only") return false;
    if (eventTicker !== null && kalshiEventTicker(market.event) !== eventTicker) return false;
    if (seriesTicker !== null && kalshiSeriesTicker(market.event) !== seriesTicker) return false;
    if (created !== null && (market.openAt < created.min || market.openAt > created.max)) return false;
    // Settlement is the last change. Checking it first is much faster than computing the phase of every settled market.
    if (updatedMin !== null && market.finalizeAt < updatedMin) return false;
    if (phases === null && close === null && settled === null && updatedMin === null) return true;
    const { phase, closeAt, updatedAt } = lifecycleOf(market);
    if (updatedMin !== null && updatedAt < updatedMin) return false;
    if (phases !== null && !phases.includes(phase)) return false;
    if (close !== null && (closeAt < close.min || closeAt > close.max)) return false;
    if (settled === null) return true;
    return phase === "finalized" && market.finalizeAt >= settled.min && market.finalizeAt <= settled.max;
  };
}
