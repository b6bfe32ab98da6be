import { isListed, type ListedEvent } from "../../world/types.ts";
import { eventJson } from "./event-json.ts";
import { kalshiSeriesTicker } from "./ids.ts";
import { marketJson } from "./market-json.ts";
import { pageOf } from "./paging.ts";
import { notFound } from "./query.ts";
import type { Get, RestOptions } from "./rest-types.ts";

const EVENTS_MAX = 200;
const TICKERS_MAX = 200;
const STATUS_VALUES = ["unopened", "open", "closed", "settled"] as const;

export function installEvents(get: Get, { context, catalogue }: RestOptions): void {
  const { world, now } = context;

  const nestedMarkets = (event: ListedEvent) =>
    event.markets
      .filter((market) => isListed(market, now()) && !catalogue.isHistorical(market))
      .map((market) => marketJson(world, market, now()));

  const statusOf = (event: ListedEvent): (typeof STATUS_VALUES)[number] => {
    const phases = event.markets.map((market) => world.lifecycle(market, now()).phase);
    if (phases.some((phase) => phase === "active" || phase === "paused")) return "open";
    if (phases.every((phase) => phase === "pending")) return "unopened";
    return phases.every((phase) => phase === "finalized") ? "settled" : "closed";
  };

  get("/events", ({ query }) => {
    const limit = query.limit(EVENTS_MAX, EVENTS_MAX);
    const status = query.choice("status", STATUS_VALUES);
    const seriesTicker = query.text("series_ticker");
    const closeMin = query.time("min_close_ts") ?? 0;
    const updatedMin = query.time("min_updated_ts") ?? 0;
    const isNested = query.flag("with_nested_markets");
    const tickers = query.list("tickers", TICKERS_MAX);
    const { page, cursor } = pageOf(
      tickers === null
        ? catalogue.events()
        : tickers.map((ticker) => catalogue.event(ticker)).filter((event) => event !== null),
      query.text("cursor"),
      limit,
      (event) =>
        event.closeAt >= closeMin &&
        event.openAt >= updatedMin &&
        (seriesTicker === null || kalshiSeriesTicker(event) === seriesTicker) &&
        (status === null || statusOf(event) === status),
    );
    const events = page.map((event) =>
      isNested ? { ...eventJson(event), markets: nestedMarkets(event) } : eventJson(event),
    );
    return { events, ...(query.flag("with_milestones") ? { milestones: [] } : {}), cursor };
  });

  get("/events/:event", ({ query, path }) => {
    const event = catalogue.event(path("event"));
    if (event === null) throw notFound();
    const markets = nestedMarkets(event);
    if (query.flag("with_nested_markets")) return { event: { ...eventJson(event), markets }, markets };
    return { event: eventJson(event), markets };
  });
}
