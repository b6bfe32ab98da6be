import { isListed } from "../../world/types.ts";
import { eventJson, seriesJson } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { marketJson } from "./market-json.ts";
import { pageOf } from "./paging.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const EVENTS_MAX = 200;
const TICKERS_MAX = 200;

/** Events with their markets, and series. */
export function installEvents(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  get("/events", ({ query }) => {
    const updatedMin = query.time("min_updated_ts") ?? 0;
    const tickers = query.list("tickers", TICKERS_MAX);
    const { page, cursor } = pageOf(
      tickers === null
        ? catalogue.events()
        : tickers.map((ticker) => catalogue.event(ticker)).filter((event) => event !== null),
      query.text("cursor"),
      query.limit(EVENTS_MAX, EVENTS_MAX),
      (event) => event.openAt >= updatedMin,
    );
    return { events: page.map(eventJson), cursor };
  });

  get("/events/:event", ({ query, path }) => {
    const event = catalogue.event(path("event"));
    if (event === null) throw notFound();
    const markets = event.markets
      .filter((market) => isListed(market, now()) && catalogue.tierOf(market) === "live")
      .map((market) => marketJson(world, market, now()));
    if (query.flag("with_nested_markets")) return { event: { ...eventJson(event), markets }, markets };
    return { event: eventJson(event), markets };
  });

  const eventsBySeries = () => Map.groupBy(catalogue.events(), kalshiSeriesTicker);

  // The venue does not page this list.
  get("/series", ({ query }) => {
    const updatedMin = query.time("min_updated_ts") ?? 0;
    // A series has the properties of its first event.
    const firstEvents = [...eventsBySeries().values()].flatMap(([event]) => event ?? []);
    return { series: firstEvents.filter((event) => event.openAt >= updatedMin).map(seriesJson) };
  });

  get("/series/:series", ({ path }) => {
    const event = eventsBySeries().get(path("series"))?.[0];
    if (event === undefined) throw notFound();
    return { series: seriesJson(event) };
  });
}
