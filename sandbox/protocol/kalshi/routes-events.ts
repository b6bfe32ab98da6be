import { isListed } from "../../world/types.ts";
import { presentEvent, presentSeries } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { presentMarket } from "./market-json.ts";
import { selectPage } from "./paging.ts";
import { createNotFoundError } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const EVENTS_MAX = 200;
const TICKERS_MAX = 200;

/** Installs the routes of events and series. The first listed event of a series determines its properties. */
export function installEvents(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  get("/events", ({ query }) => {
    const limit = query.readLimit(EVENTS_MAX, EVENTS_MAX);
    const updatedMin = query.readTime("min_updated_ts") ?? 0;
    const tickers = query.readList("tickers", TICKERS_MAX);
    const { page, cursor } = selectPage(
      tickers === null
        ? catalogue.listEvents()
        : tickers.map((ticker) => catalogue.findEvent(ticker)).filter((event) => event !== null),
      query.readText("cursor"),
      limit,
      (event) => event.openAt >= updatedMin,
    );
    return { events: page.map(presentEvent), cursor };
  });

  get("/events/:event", ({ query, path }) => {
    const event = catalogue.findEvent(path("event"));
    if (event === null) throw createNotFoundError();
    const markets = event.markets
      .filter((market) => isListed(market, now()) && !catalogue.isHistorical(market))
      .map((market) => presentMarket(world, market, now()));
    const isNested = query.readFlag("with_nested_markets");
    return { event: isNested ? { ...presentEvent(event), markets } : presentEvent(event), markets };
  });

  // The venue returns this list without pagination.
  get("/series", ({ query }) => {
    const updatedMin = query.readTime("min_updated_ts") ?? 0;
    const firstEvents = Map.groupBy(catalogue.listEvents(), kalshiSeriesTicker)
      .values()
      .flatMap(([first]) => (first === undefined || first.openAt < updatedMin ? [] : [first]));
    return { series: [...firstEvents.map(presentSeries)] };
  });

  get("/series/:series", ({ path }) => {
    const event = catalogue.listEvents().find((candidate) => kalshiSeriesTicker(candidate) === path("series"));
    if (event === undefined) throw createNotFoundError();
    return { series: presentSeries(event) };
  });
}
