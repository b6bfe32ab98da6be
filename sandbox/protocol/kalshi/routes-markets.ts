import type { ListedMarket, Phase } from "../../world/types.ts";
import { kalshiEventTicker, kalshiSeriesTicker, kalshiTicker } from "./ids.ts";
import { closeTimeOf, marketJson, orderbookJson } from "./market-json.ts";
import { pageOf } from "./paging.ts";
import { badRequest, KalshiError, notFound, type Query } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const MARKETS_MAX = 1_000;
const TICKERS_MAX = 1_000;
const BOOKS_MAX = 100;
const BOOK_DEPTH_MAX = 100;

/** The status filter uses different values than the status field. */
const STATUS_FILTER = {
  unopened: ["pending"],
  open: ["active"],
  paused: ["paused"],
  closed: ["closed", "determined", "disputed"],
  settled: ["finalized"],
} as const satisfies Record<string, readonly Phase[]>;
type StatusFilter = keyof typeof STATUS_FILTER;
const STATUS_FILTER_VALUES = Object.keys(STATUS_FILTER) as StatusFilter[];

export function installMarkets(get: Get, { context, catalogue, orderbookNeedsKey }: RestOptions): void {
  const { world, now } = context;

  const liveMarket = (ticker: string): ListedMarket => {
    const market = catalogue.market(ticker);
    if (market === null || catalogue.isHistorical(market)) throw notFound();
    return market;
  };
  const bookOf = (market: ListedMarket, depth: number) => orderbookJson(world.book(market, now()), depth);
  const requireKey = (hasKey: boolean) => {
    if (orderbookNeedsKey && !hasKey) throw new KalshiError(401, "authentication_error", "missing API key");
  };

  get("/markets", ({ query }) => {
    const limit = query.limit(100, MARKETS_MAX);
    const accepts = marketFilter(query, (market) => {
      const { phase } = world.lifecycle(market, now());
      return { phase, closeAt: closeTimeOf(world, market, phase) };
    });
    const tickers = query.list("tickers", TICKERS_MAX);
    const { page, cursor } = pageOf(
      tickers === null ? catalogue.markets() : catalogue.marketsByTicker(tickers),
      query.text("cursor"),
      limit,
      (market) => !catalogue.isHistorical(market) && accepts(market),
    );
    return { markets: page.map((market) => marketJson(world, market, now())), cursor };
  });

  get("/markets/orderbooks", ({ query, hasKey }) => {
    requireKey(hasKey);
    const tickers = query.list("tickers", BOOKS_MAX);
    if (tickers === null) throw badRequest("invalid parameters: tickers is required");
    return {
      orderbooks: catalogue
        .marketsByTicker(tickers)
        .map((market) => ({ ticker: kalshiTicker(market), orderbook_fp: bookOf(market, 0) })),
    };
  });

  get("/markets/:ticker", ({ path }) => ({ market: marketJson(world, liveMarket(path("ticker")), now()) }));

  get("/markets/:ticker/orderbook", ({ query, path, hasKey }) => {
    requireKey(hasKey);
    const depth = query.integer("depth") ?? 0;
    if (depth > BOOK_DEPTH_MAX) throw badRequest(`invalid parameters: depth must be at most ${BOOK_DEPTH_MAX}`);
    return { orderbook_fp: bookOf(liveMarket(path("ticker")), depth) };
  });
}

/**
 * The filter parameters of the market list as one predicate.
 * @throws KalshiError (400) if the venue does not allow the combination of parameters
 */
function marketFilter(
  query: Query,
  lifecycleOf: (market: ListedMarket) => { readonly phase: Phase; readonly closeAt: number },
): (market: ListedMarket) => boolean {
  const status = query.choice("status", STATUS_FILTER_VALUES);
  const eventTicker = query.text("event_ticker");
  const seriesTicker = query.text("series_ticker");
  const mve = query.choice("mve_filter", ["only", "exclude"]);
  const readRange = (name: string) => {
    const min = query.time(`min_${name}_ts`);
    const max = query.time(`max_${name}_ts`);
    return min === null && max === null ? null : { min: min ?? 0, max: max ?? Number.POSITIVE_INFINITY };
  };
  const created = readRange("created");
  const close = readRange("close");
  const settled = readRange("settled");
  const updatedMin = query.time("min_updated_ts");
  const timeFilters = [created, close, settled, updatedMin].filter((filter) => filter !== null);
  if (timeFilters.length > 1) throw badRequest("invalid parameters: timestamp filters are mutually exclusive");
  const requireStatus = (filter: unknown, name: string, allowed: readonly StatusFilter[]) => {
    if (filter !== null && status !== null && !allowed.includes(status)) {
      throw badRequest(`invalid parameters: ${name} is incompatible with status ${status}`);
    }
  };
  requireStatus(created, "created_ts", ["unopened", "open"]);
  requireStatus(close, "close_ts", ["closed"]);
  requireStatus(settled, "settled_ts", ["settled"]);
  if (updatedMin !== null && (status !== null || eventTicker !== null || mve !== "exclude")) {
    throw badRequest("invalid parameters: min_updated_ts is incompatible with other filters but mve_filter=exclude");
  }
  const phases: readonly Phase[] | null = status === null ? null : STATUS_FILTER[status];
  return (market) => {
    // Multivariate events are not simulated.
    if (mve === "only") return false;
    if (eventTicker !== null && kalshiEventTicker(market.event) !== eventTicker) return false;
    if (seriesTicker !== null && kalshiSeriesTicker(market.event) !== seriesTicker) return false;
    if (created !== null && (market.openAt < created.min || market.openAt > created.max)) return false;
    if (updatedMin !== null && market.openAt < updatedMin) return false;
    if (phases === null && close === null && settled === null) return true;
    const { phase, closeAt } = lifecycleOf(market);
    if (phases !== null && !phases.includes(phase)) return false;
    if (close !== null && (closeAt < close.min || closeAt > close.max)) return false;
    if (settled === null) return true;
    return phase === "finalized" && market.finalizeAt >= settled.min && market.finalizeAt <= settled.max;
  };
}
